package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "example.com/gizmo"

// controllerRuntime runs a manager with leader election whose reconciler gives
// every Gizmo a finalizer, a ConfigMap that it owns, a status and an event.
func controllerRuntime(ctx context.Context, config *rest.Config, ns, group string) {
	gvk := schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Gizmo"}
	lease, renew, retryPeriod := 3*time.Second, 2*time.Second, 200*time.Millisecond
	manager, err := ctrl.NewManager(config, ctrl.Options{
		LeaderElection: true, LeaderElectionID: "gizmos", LeaderElectionNamespace: ns, LeaderElectionReleaseOnCancel: true,
		LeaseDuration: &lease, RenewDeadline: &renew, RetryPeriod: &retryPeriod,
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
	})
	check("manager", err)
	gizmo := newGizmo(gvk)
	r := &reconciler{Client: manager.GetClient(), gvk: gvk, events: manager.GetEventRecorderFor("gizmos")}
	check("controller", ctrl.NewControllerManagedBy(manager).Named("gizmo-"+ns).For(gizmo).Owns(&corev1.ConfigMap{}).Complete(r))
	run, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(run) }()
	must("cache sync", manager.GetCache().WaitForCacheSync(ctx), "never")
	live(ctx, manager.GetAPIReader(), manager.GetClient(), gvk, ns)
	stop()
	check("manager", <-ended)
	works("the manager stopped")
}

func newGizmo(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u
}

// live walks one Gizmo through its life and looks at what the reconciler made of it.
func live(ctx context.Context, reader client.Reader, writer client.Client, gvk schema.GroupVersionKind, ns string) {
	key := client.ObjectKey{Namespace: ns, Name: "a"}
	object := newGizmo(gvk)
	object.SetName("a")
	object.SetNamespace(ns)
	object.Object["spec"] = map[string]any{"size": int64(3)}
	check("create", writer.Create(ctx, object))
	eventually(ctx, "status", func() (bool, error) {
		err := reader.Get(ctx, key, object)
		phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
		observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
		return phase == "Ready" && observed == object.GetGeneration(), err
	})
	must("finalizer", controllerutil.ContainsFinalizer(object, finalizer), "%v", object.GetFinalizers())
	works("reconciled to Ready")
	child := &corev1.ConfigMap{}
	check("child", reader.Get(ctx, key, child))
	must("child", metav1.IsControlledBy(child, object) && child.Data["size"] == "3", "%+v", child)
	check("delete the child", writer.Delete(ctx, child))
	eventually(ctx, "the child again", func() (bool, error) {
		again := &corev1.ConfigMap{}
		err := reader.Get(ctx, key, again)
		return err == nil && again.UID != child.UID, err
	})
	works("the child is made again")
	patch := client.MergeFrom(object.DeepCopy())
	check("set", unstructured.SetNestedField(object.Object, int64(5), "spec", "size"))
	check("patch", writer.Patch(ctx, object, patch))
	eventually(ctx, "the change", func() (bool, error) {
		err := reader.Get(ctx, key, child)
		return child.Data["size"] == "5", err
	})
	works("a change is followed")
	eventually(ctx, "an event", func() (bool, error) {
		events := &corev1.EventList{}
		err := reader.List(ctx, events, client.InNamespace(ns))
		for _, event := range events.Items {
			if event.Reason == "Reconciled" && event.InvolvedObject.Name == "a" {
				return true, nil
			}
		}
		return false, err
	})
	works("an event is recorded")
	check("delete", writer.Delete(ctx, object))
	eventually(ctx, "the end", func() (bool, error) {
		err := reader.Get(ctx, key, newGizmo(gvk))
		return apierrors.IsNotFound(err), err
	})
	eventually(ctx, "the end of the child", func() (bool, error) {
		err := reader.Get(ctx, key, &corev1.ConfigMap{})
		return apierrors.IsNotFound(err), err
	})
	works("finalized, and the child collected")
}

type reconciler struct {
	client.Client
	gvk    schema.GroupVersionKind
	events record.EventRecorder
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := newGizmo(r.gvk)
	if err := r.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !object.GetDeletionTimestamp().IsZero() {
		if controllerutil.RemoveFinalizer(object, finalizer) {
			return ctrl.Result{}, r.Update(ctx, object)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(object, finalizer) {
		return ctrl.Result{}, r.Update(ctx, object)
	}
	size, _, _ := unstructured.NestedInt64(object.Object, "spec", "size")
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: object.GetName(), Namespace: object.GetNamespace()}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, child, func() error {
		child.Data = map[string]string{"size": fmt.Sprint(size)}
		return controllerutil.SetControllerReference(object, child, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	if observed == object.GetGeneration() {
		return ctrl.Result{}, nil
	}
	object.Object["status"] = map[string]any{"phase": "Ready", "observedGeneration": object.GetGeneration()}
	if err := r.Status().Update(ctx, object); err != nil {
		return ctrl.Result{}, err
	}
	r.events.Event(object, corev1.EventTypeNormal, "Reconciled", "all is as it should be")
	return ctrl.Result{}, nil
}
