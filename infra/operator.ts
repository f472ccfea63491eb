/**
 * Names of the operator's own install that more than one program needs.
 */

/** Namespace of the daemon, unless a program is told otherwise. */
export const defaultOperatorNamespace = "enginekeeper-system";
