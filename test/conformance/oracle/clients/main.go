// Command clients drives a Kubernetes API with the libraries that Go programs
// use: client-go and controller-runtime. It prints one line per thing that
// works and ends with an error at the first that does not.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	ctrl.SetLogger(logr.Discard())
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: clients client-go|controller-runtime NAMESPACE GROUP (KUBECONFIG is set)")
		os.Exit(2)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	check("kubeconfig", err)
	config.QPS, config.Burst = 200, 400
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	programs := map[string]func(context.Context, *rest.Config, string, string){
		"client-go":          clientGo,
		"controller-runtime": controllerRuntime,
	}
	programs[os.Args[1]](ctx, config, os.Args[2], os.Args[3])
	fmt.Println("all of it works")
}

func check(what string, err error) {
	if err == nil {
		return
	}
	fmt.Printf("FAILED %s: %v\n", what, err)
	os.Exit(1)
}

func works(what string) { fmt.Println(what) }

func must(what string, good bool, format string, args ...any) {
	if !good {
		check(what, fmt.Errorf(format, args...))
	}
}

// eventually asks until it is so, or the context ends.
func eventually(ctx context.Context, what string, done func() (bool, error)) {
	for {
		good, err := done()
		if good {
			return
		}
		select {
		case <-ctx.Done():
			check(what, fmt.Errorf("never: %v", err))
		case <-time.After(20 * time.Millisecond):
		}
	}
}
