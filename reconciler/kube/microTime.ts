/** MicroTime of the API: RFC 3339 with exactly six digits; Go refuses the three that Date prints. */

export const microTime = (date: Date): string => date.toISOString().replace(/Z$/, "000Z");
