//go:build tools

// Package h2spec names the program to build: a test suite of HTTP/2.
package h2spec

import _ "github.com/summerwind/h2spec/cmd/h2spec"
