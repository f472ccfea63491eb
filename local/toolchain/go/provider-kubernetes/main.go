// The Kubernetes provider for Pulumi, served from its published module.
//
// The module's own main embeds two files that its release process generates and
// that the module does not carry; schema.json and terraform-mapping.json, which it
// does carry, are copied beside this file at build time.
package main

import (
	_ "embed"
	"os"
	"time"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var mapping []byte

// version must equal the npm package's, or the engine warns on every run. Set by -ldflags -X.
var version = "0.0.0"

func main() {
	exitWithParent()
	provider.Serve("kubernetes", version, schema, mapping)
}

// exitWithParent ends this process when the Pulumi CLI that started it is gone.
// The health check of the provider SDK in this release never stops the server, so a
// CLI that was killed would leave its provider running for ever.
func exitWithParent() {
	if len(os.Args) < 2 {
		return // attach mode: started by hand, no engine to outlive
	}
	parent := os.Getppid()
	go func() {
		for range time.Tick(time.Second) {
			if os.Getppid() != parent {
				os.Exit(1)
			}
		}
	}()
}
