// Programs as users of Kubernetes write them, with the libraries they write them with. Each walks through its
// part step by step, checks what it sees, and ends with an error at the first thing that is not as it should be.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

type step struct {
	name string
	run  func(context.Context, *world) error
}

// world is what the steps of a program share.
type world struct {
	config    *rest.Config
	namespace string
}

var programs = map[string][]step{
	"client-go":  clientGo,
	"reconciler": reconciler,
}

func main() {
	// Before anything asks for a feature gate: informers stream their first list.
	os.Setenv("KUBE_FEATURE_WatchListClient", "true")
	if len(os.Args) != 2 || programs[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: KUBECONFIG=FILE clients client-go|reconciler")
		os.Exit(2)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	config.QPS, config.Burst = 500, 500
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	w := &world{config: config}
	for _, s := range programs[os.Args[1]] {
		began := time.Now()
		if err := s.run(ctx, w); err != nil {
			fmt.Printf("failed: %s: %v\n", s.name, err)
			os.Exit(1)
		}
		fmt.Printf("ok: %s\n", s.name)
		fmt.Fprintf(os.Stderr, "%s: %s\n", s.name, time.Since(began).Round(time.Millisecond))
	}
}

// eventually asks until the answer is nil, and tells the last complaint when it never is.
func eventually(ctx context.Context, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%w: %v", err, last)
	}
	return nil
}

func expect(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}
