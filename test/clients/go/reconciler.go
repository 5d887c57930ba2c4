package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = group + "/cleanup"

// widgets is a reconciler as many are: it owns a ConfigMap per Widget, reports conditions, cleans up at the end.
type widgets struct {
	client.Client
	events  record.EventRecorder
	seen    atomic.Int32
	cleaned sync.Map
}

func (r *widgets) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	r.seen.Add(1)
	var widget Widget
	if err := r.Get(ctx, request.NamespacedName, &widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !widget.DeletionTimestamp.IsZero() {
		r.cleaned.Store(widget.Name, true)
		if controllerutil.RemoveFinalizer(&widget, finalizer) {
			return ctrl.Result{}, r.Update(ctx, &widget)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(&widget, finalizer) {
		if err := r.Update(ctx, &widget); err != nil {
			return ctrl.Result{}, err
		}
	}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: widget.Name, Namespace: widget.Namespace}}
	done, err := controllerutil.CreateOrUpdate(ctx, r.Client, settings, func() error {
		settings.Data = map[string]string{"colour": widget.Spec.Colour}
		return controllerutil.SetControllerReference(&widget, settings, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if done != controllerutil.OperationResultNone {
		r.events.Eventf(&widget, corev1.EventTypeNormal, "Painted", "colour is %s", widget.Spec.Colour)
	}
	return ctrl.Result{}, r.report(ctx, &widget)
}

// report writes status twice over, in the two ways that operators do: a merge patch, and server-side apply.
func (r *widgets) report(ctx context.Context, widget *Widget) error {
	if widget.Status.ObservedGeneration != widget.Generation || widget.Status.Replicas != widget.Spec.Replicas {
		before := widget.deepCopy()
		widget.Status.ObservedGeneration = widget.Generation
		widget.Status.Replicas = widget.Spec.Replicas
		if err := r.Status().Patch(ctx, widget, client.MergeFrom(before)); err != nil {
			return err
		}
	}
	applied := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": widgetKind.GroupVersion().String(), "kind": widgetKind.Kind,
		"metadata": map[string]any{"name": widget.Name, "namespace": widget.Namespace},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "Painted", "message": widget.Spec.Colour,
			"observedGeneration": widget.Generation, "lastTransitionTime": widget.CreationTimestamp.UTC().Format(time.RFC3339),
		}}},
	}}
	return r.Status().Patch(ctx, applied, client.Apply, client.ForceOwnership, client.FieldOwner("widgets"))
}

// replica is one of the processes that compete for the lease.
type replica struct {
	manager ctrl.Manager
	widgets *widgets
	stop    context.CancelFunc
	done    chan error
}

var first, second *replica

func startReplica(ctx context.Context, w *world) (*replica, error) {
	log.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	scheme.AddKnownTypeWithName(widgetKind, &Widget{})
	scheme.AddKnownTypeWithName(widgetKind.GroupVersion().WithKind("WidgetList"), &WidgetList{})
	metav1.AddToGroupVersion(scheme, widgetKind.GroupVersion())
	// Long enough that nobody loses the lease because the machine is slow.
	lease, renew, retry := 20*time.Second, 15*time.Second, 200*time.Millisecond
	anyName := true
	manager, err := ctrl.NewManager(w.config, ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}}},
		LeaderElection:                true,
		LeaderElectionID:              "widgets." + group,
		LeaderElectionNamespace:       w.namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &retry,
		Controller:                    config.Controller{SkipNameValidation: &anyName},
	})
	if err != nil {
		return nil, err
	}
	r := &widgets{Client: manager.GetClient(), events: manager.GetEventRecorderFor("widgets")}
	byColour := func(object client.Object) []string { return []string{object.(*Widget).Spec.Colour} }
	if err := manager.GetFieldIndexer().IndexField(ctx, &Widget{}, "spec.colour", byColour); err != nil {
		return nil, err
	}
	if err := ctrl.NewControllerManagedBy(manager).For(&Widget{}).Owns(&corev1.ConfigMap{}).Complete(r); err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	out := &replica{manager: manager, widgets: r, stop: stop, done: make(chan error, 1)}
	go func() { out.done <- manager.Start(running) }()
	return out, nil
}

var reconciler = []step{
	{"the kind is served", installWidgets},
	{"a namespace of its own", makeNamespace},
	{"of two managers one leads", oneLeads},
	{"a widget is reconciled", widgetReconciled},
	{"the cache answers by index and label", cacheAnswers},
	{"what it owns is made again", ownedAgain},
	{"a change of spec is observed", changeObserved},
	{"there are events", eventsThere},
	{"the other takes over", takesOver},
	{"deletion waits for the finalizer, and takes what is owned along", deletionWaits},
	{"the second stops cleanly", stopSecond},
	{"the namespace goes", removeNamespace},
}

func oneLeads(ctx context.Context, w *world) (err error) {
	if first, err = startReplica(ctx, w); err != nil {
		return err
	}
	select {
	case <-first.manager.Elected():
	case err := <-first.done:
		return fmt.Errorf("the manager ended: %w", err)
	case <-time.After(2 * time.Minute):
		return fmt.Errorf("nobody was elected")
	}
	if second, err = startReplica(ctx, w); err != nil {
		return err
	}
	select {
	case <-second.manager.Elected():
		return fmt.Errorf("two leaders")
	case <-time.After(time.Second):
	}
	var lease coordinationv1.Lease
	if err := first.manager.GetAPIReader().Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: "widgets." + group}, &lease); err != nil {
		return err
	}
	return expect(lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "", "the lease has no holder")
}

func widgetReconciled(ctx context.Context, w *world) error {
	widget := &Widget{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: w.namespace, Labels: map[string]string{"size": "big"}}, Spec: WidgetSpec{Colour: "red"}}
	if err := first.manager.GetClient().Create(ctx, widget); err != nil {
		return err
	}
	if err := expect(widget.Spec.Replicas == 1, "replicas were not defaulted: %d", widget.Spec.Replicas); err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error { return painted(ctx, first, w, "red") })
}

// painted is nil when the cache of a replica shows widget a in its final state.
func painted(ctx context.Context, r *replica, w *world, colour string) error {
	key := client.ObjectKey{Namespace: w.namespace, Name: "a"}
	var widget Widget
	if err := r.manager.GetClient().Get(ctx, key, &widget); err != nil {
		return err
	}
	var settings corev1.ConfigMap
	if err := r.manager.GetClient().Get(ctx, key, &settings); err != nil {
		return err
	}
	status := widget.Status
	ready := len(status.Conditions) == 1 && status.Conditions[0].Message == colour
	observed := status.ObservedGeneration == widget.Generation
	return expect(ready && observed && settings.Data["colour"] == colour, "widget %+v, settings %v", status, settings.Data)
}

func cacheAnswers(ctx context.Context, w *world) error {
	var byIndex, byLabel WidgetList
	c := first.manager.GetClient()
	if err := c.List(ctx, &byIndex, client.InNamespace(w.namespace), client.MatchingFields{"spec.colour": "red"}); err != nil {
		return err
	}
	if err := c.List(ctx, &byLabel, client.MatchingLabels{"size": "big"}); err != nil {
		return err
	}
	return expect(len(byIndex.Items) == 1 && len(byLabel.Items) == 1, "%d by index, %d by label", len(byIndex.Items), len(byLabel.Items))
}

func ownedAgain(ctx context.Context, w *world) error {
	key := client.ObjectKey{Namespace: w.namespace, Name: "a"}
	var settings corev1.ConfigMap
	c := first.manager.GetClient()
	if err := c.Get(ctx, key, &settings); err != nil {
		return err
	}
	if err := expect(metav1.IsControlledBy(&settings, mustWidget(ctx, c, key)), "not owned"); err != nil {
		return err
	}
	old := settings.UID
	if err := c.Delete(ctx, &settings, client.Preconditions{UID: &old}); err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		if err := c.Get(ctx, key, &settings); err != nil {
			return err
		}
		return expect(settings.UID != old, "it is still the old one")
	})
}

func mustWidget(ctx context.Context, c client.Client, key client.ObjectKey) *Widget {
	var widget Widget
	if err := c.Get(ctx, key, &widget); err != nil {
		return &Widget{}
	}
	return &widget
}

func changeObserved(ctx context.Context, w *world) error {
	c := first.manager.GetClient()
	var widget, before *Widget
	// The cache may be a moment old, or the reconciler may still be writing.
	err := eventually(ctx, func(ctx context.Context) error {
		widget = mustWidget(ctx, c, client.ObjectKey{Namespace: w.namespace, Name: "a"})
		before = widget.deepCopy()
		widget.Spec.Colour = "blue"
		return c.Patch(ctx, widget, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
	if err != nil {
		return err
	}
	generation := before.Generation
	if err := expect(widget.Generation == generation+1, "generation went from %d to %d", generation, widget.Generation); err != nil {
		return err
	}
	if err := c.Patch(ctx, before, client.MergeFromWithOptions(&Widget{ObjectMeta: before.ObjectMeta}, client.MergeFromWithOptimisticLock{})); !apierrors.IsConflict(err) {
		return fmt.Errorf("a patch from an old revision: %v", err)
	}
	return eventually(ctx, func(ctx context.Context) error { return painted(ctx, first, w, "blue") })
}

func eventsThere(ctx context.Context, w *world) error {
	return eventually(ctx, func(ctx context.Context) error {
		var events corev1.EventList
		selector := client.MatchingFields{"involvedObject.kind": "Widget", "reason": "Painted"}
		if err := first.manager.GetAPIReader().List(ctx, &events, client.InNamespace(w.namespace), selector); err != nil {
			return err
		}
		return expect(len(events.Items) >= 2, "%d events", len(events.Items))
	})
}

func takesOver(ctx context.Context, w *world) error {
	first.stop()
	if err := <-first.done; err != nil {
		return err
	}
	select {
	case <-second.manager.Elected():
	case <-time.After(2 * time.Minute):
		return fmt.Errorf("the second was not elected")
	}
	err := eventually(ctx, func(ctx context.Context) error {
		widget := mustWidget(ctx, second.manager.GetClient(), client.ObjectKey{Namespace: w.namespace, Name: "a"})
		widget.Spec.Colour = "green"
		return second.manager.GetClient().Update(ctx, widget)
	})
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error { return painted(ctx, second, w, "green") })
}

func deletionWaits(ctx context.Context, w *world) error {
	c := second.manager.GetClient()
	key := client.ObjectKey{Namespace: w.namespace, Name: "a"}
	if err := c.Delete(ctx, mustWidget(ctx, c, key), client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		return err
	}
	err := eventually(ctx, func(ctx context.Context) error {
		widget := c.Get(ctx, key, &Widget{})
		settings := second.manager.GetAPIReader().Get(ctx, key, &corev1.ConfigMap{})
		return expect(apierrors.IsNotFound(widget) && apierrors.IsNotFound(settings), "widget: %v, settings: %v", widget, settings)
	})
	if err != nil {
		return err
	}
	_, cleaned := second.widgets.cleaned.Load("a")
	return expect(cleaned, "the finalizer did not run")
}

func stopSecond(context.Context, *world) error {
	second.stop()
	return <-second.done
}
