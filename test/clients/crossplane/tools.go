//go:build tools

// Package crossplane names the program to build: Crossplane itself.
package crossplane

import _ "github.com/crossplane/crossplane/cmd/crossplane"
