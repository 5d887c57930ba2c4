package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"
)

// clientGo walks through what programs with client-go do.
func clientGo(ctx context.Context, config *rest.Config, ns, group string) {
	pb := rest.CopyConfig(config)
	pb.ContentType = "application/vnd.kubernetes.protobuf"
	pb.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	typed := kubernetes.NewForConfigOrDie(pb)

	typedObjects(ctx, typed, ns)
	definitions(ctx, apiextensions.NewForConfigOrDie(pb), group)
	gvr := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "gadgets"}
	dyn := dynamic.NewForConfigOrDie(config)
	dynamicObjects(ctx, dyn.Resource(gvr).Namespace(ns), group)
	serverSideApply(ctx, typed, ns)
	informing(ctx, typed, dyn, gvr, ns)
	mapping(ctx, config, gvr, group)
	scaling(ctx, config, dyn, gvr, ns, group)
	paging(ctx, typed, ns)
	impersonating(ctx, config, ns)
	electing(ctx, typed, ns)
	metadataOnly(ctx, config, ns)
}

func typedObjects(ctx context.Context, c kubernetes.Interface, ns string) {
	maps := c.CoreV1().ConfigMaps(ns)
	made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "typed", Labels: map[string]string{"from": "go"}}, Data: map[string]string{"k": "v"}, BinaryData: map[string][]byte{"b": {0, 255}}}, metav1.CreateOptions{})
	check("create", err)
	must("create", made.UID != "" && made.ResourceVersion != "", "server fields are missing: %+v", made.ObjectMeta)
	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "typed"}}, metav1.CreateOptions{})
	must("create twice", apierrors.IsAlreadyExists(err), "%v", err)
	stale := made.DeepCopy()
	made.Data["k"] = "w"
	_, err = maps.Update(ctx, made, metav1.UpdateOptions{})
	check("update", err)
	_, err = maps.Update(ctx, stale, metav1.UpdateOptions{})
	must("stale update", apierrors.IsConflict(err), "%v", err)
	_, err = maps.Patch(ctx, "typed", types.StrategicMergePatchType, []byte(`{"data":{"p":"q"}}`), metav1.PatchOptions{})
	check("patch", err)
	check("retry on conflict", retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now, err := maps.Get(ctx, "typed", metav1.GetOptions{})
		if err != nil {
			return err
		}
		now.Data["r"] = "s"
		_, err = maps.Update(ctx, now, metav1.UpdateOptions{})
		return err
	}))
	now, err := maps.Get(ctx, "typed", metav1.GetOptions{})
	check("get", err)
	must("get", now.Data["p"] == "q" && now.Data["r"] == "s" && len(now.BinaryData["b"]) == 2, "%v", now.Data)
	_, err = c.CoreV1().Secrets(ns).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "typed"}, StringData: map[string]string{"a": "b"}}, metav1.CreateOptions{})
	check("create a secret", err)
	_, err = c.RbacV1().Roles(ns).Create(ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "typed"}, Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}}}, metav1.CreateOptions{})
	check("create a role", err)
	check("delete", maps.Delete(ctx, "typed", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &now.UID}}))
	_, err = maps.Get(ctx, "typed", metav1.GetOptions{})
	must("get after delete", apierrors.IsNotFound(err), "%v", err)
	works("typed objects in protobuf")
}

func definitions(ctx context.Context, c apiextensions.Interface, group string) {
	preserve := true
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Kind: "Gadget", ShortNames: []string{"gd"}},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
					"spec":   {Type: "object", XPreserveUnknownFields: &preserve, Properties: map[string]apiextensionsv1.JSONSchemaProps{"replicas": {Type: "integer"}}},
					"status": {Type: "object", XPreserveUnknownFields: &preserve},
				}}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
					Scale:  &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"},
				},
			}},
		},
	}
	crds := c.ApiextensionsV1().CustomResourceDefinitions()
	_, err := crds.Create(ctx, crd, metav1.CreateOptions{})
	check("create a CRD", err)
	eventually(ctx, "an established CRD", func() (bool, error) {
		now, err := crds.Get(ctx, crd.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, condition := range now.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
	works("a CRD in protobuf")
}

func gadget(group, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/v1", "kind": "Gadget", "metadata": map[string]any{"name": name}, "spec": spec}}
}

func dynamicObjects(ctx context.Context, gadgets dynamic.ResourceInterface, group string) {
	eventually(ctx, "create a custom object", func() (bool, error) {
		_, err := gadgets.Create(ctx, gadget(group, "a", map[string]any{"replicas": int64(1), "big": int64(9007199254740993)}), metav1.CreateOptions{})
		return err == nil || apierrors.IsAlreadyExists(err), err
	})
	now, err := gadgets.Get(ctx, "a", metav1.GetOptions{})
	check("get a custom object", err)
	big, _, _ := unstructured.NestedInt64(now.Object, "spec", "big")
	must("int64", big == 9007199254740993, "%d", big)
	check("set status", unstructured.SetNestedField(now.Object, "Good", "status", "phase"))
	now, err = gadgets.UpdateStatus(ctx, now, metav1.UpdateOptions{})
	check("update status", err)
	must("generation", now.GetGeneration() == 1, "%d", now.GetGeneration())
	list, err := gadgets.List(ctx, metav1.ListOptions{})
	check("list custom objects", err)
	must("list custom objects", len(list.Items) == 1, "%d", len(list.Items))
	works("custom objects with the dynamic client")
}

func serverSideApply(ctx context.Context, c kubernetes.Interface, ns string) {
	apply := func(manager, value string, force bool) error {
		_, err := c.CoreV1().ConfigMaps(ns).Apply(ctx, applycorev1.ConfigMap("applied", ns).WithData(map[string]string{"k": value}), metav1.ApplyOptions{FieldManager: manager, Force: force})
		return err
	}
	check("apply", apply("one", "1", false))
	err := apply("two", "2", false)
	must("apply conflict", apierrors.IsConflict(err), "%v", err)
	check("apply with force", apply("two", "2", true))
	now, err := c.CoreV1().ConfigMaps(ns).Get(ctx, "applied", metav1.GetOptions{})
	check("get", err)
	extracted, err := applycorev1.ExtractConfigMap(now, "two")
	check("extract", err)
	must("extract", extracted.Data["k"] == "2", "%v", extracted.Data)
	works("server-side apply")
}

func informing(ctx context.Context, c kubernetes.Interface, dyn dynamic.Interface, gvr schema.GroupVersionResource, ns string) {
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(c, time.Minute, informers.WithNamespace(ns))
	seen := make(chan string, 100)
	informer := factory.Core().V1().ConfigMaps()
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { seen <- "added " + o.(*corev1.ConfigMap).Name },
		UpdateFunc: func(_, o any) { seen <- "updated " + o.(*corev1.ConfigMap).Name },
		DeleteFunc: func(o any) { seen <- "deleted " + o.(*corev1.ConfigMap).Name },
	})
	check("informer", err)
	dynFactory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dyn, time.Minute, ns, nil)
	gadgets := dynFactory.ForResource(gvr)
	gadgets.Informer()
	factory.Start(stop.Done())
	dynFactory.Start(stop.Done())
	for kind, synced := range factory.WaitForCacheSync(stop.Done()) {
		must("cache sync", synced, "%v", kind)
	}
	for kind, synced := range dynFactory.WaitForCacheSync(stop.Done()) {
		must("dynamic cache sync", synced, "%v", kind)
	}
	_, err = c.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "seen"}}, metav1.CreateOptions{})
	check("create", err)
	_, err = c.CoreV1().ConfigMaps(ns).Patch(ctx, "seen", types.MergePatchType, []byte(`{"data":{"k":"v"}}`), metav1.PatchOptions{})
	check("patch", err)
	check("delete", c.CoreV1().ConfigMaps(ns).Delete(ctx, "seen", metav1.DeleteOptions{}))
	for _, want := range []string{"added seen", "updated seen", "deleted seen"} {
		for {
			select {
			case got := <-seen:
				if got != want {
					continue
				}
			case <-ctx.Done():
				check("informer", fmt.Errorf("never %s", want))
			}
			break
		}
	}
	object, err := gadgets.Lister().ByNamespace(ns).Get("a")
	check("lister", err)
	must("lister", object != nil, "nothing")
	works("informers, with streaming lists")
}

func mapping(ctx context.Context, config *rest.Config, gvr schema.GroupVersionResource, group string) {
	dc := discovery.NewDiscoveryClientForConfigOrDie(config)
	var mapper *restmapper.DeferredDiscoveryRESTMapper
	eventually(ctx, "REST mapping", func() (bool, error) {
		mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(dc))
		_, err := mapper.RESTMapping(schema.GroupKind{Group: group, Kind: "Gadget"}, "v1")
		return err == nil, err
	})
	found, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: "configmaps"})
	check("resource for", err)
	must("resource for", found.Version == "v1", "%v", found)
	info, err := dc.ServerVersion()
	check("version", err)
	must("version", info.Minor == "34", "%s", info.Minor)
	_, err = dc.OpenAPISchema()
	check("OpenAPI v2 in protobuf", err)
	paths, err := dc.OpenAPIV3().Paths()
	check("OpenAPI v3", err)
	must("OpenAPI v3", paths["api/v1"] != nil, "no api/v1")
	works("discovery, mapping, OpenAPI")
}

func scaling(ctx context.Context, config *rest.Config, dyn dynamic.Interface, gvr schema.GroupVersionResource, ns, group string) {
	dc := discovery.NewDiscoveryClientForConfigOrDie(config)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(dc))
	scales, err := scale.NewForConfig(config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(dc))
	check("scale client", err)
	now, err := scales.Scales(ns).Get(ctx, gvr.GroupResource(), "a", metav1.GetOptions{})
	check("get scale", err)
	now.Spec.Replicas = 4
	_, err = scales.Scales(ns).Update(ctx, gvr.GroupResource(), now, metav1.UpdateOptions{})
	check("update scale", err)
	object, err := dyn.Resource(gvr).Namespace(ns).Get(ctx, "a", metav1.GetOptions{})
	check("get", err)
	replicas, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	must("scale", replicas == 4, "%d", replicas)
	works("the scale client")
}

func paging(ctx context.Context, c kubernetes.Interface, ns string) {
	for i := range 7 {
		_, err := c.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("page-%d", i), Labels: map[string]string{"page": "yes"}}}, metav1.CreateOptions{})
		check("create", err)
	}
	p := pager.New(pager.SimplePageFunc(func(opts metav1.ListOptions) (runtime.Object, error) {
		return c.CoreV1().ConfigMaps(ns).List(ctx, opts)
	}))
	p.PageSize = 3
	count := 0
	check("pager", p.EachListItem(ctx, metav1.ListOptions{LabelSelector: "page=yes"}, func(runtime.Object) error { count++; return nil }))
	must("pager", count == 7, "%d", count)
	check("delete collection", c.CoreV1().ConfigMaps(ns).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "page=yes"}))
	left, err := c.CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{LabelSelector: "page=yes"})
	check("list", err)
	must("delete collection", len(left.Items) == 0, "%d left", len(left.Items))
	works("paging and deleting collections")
}

func impersonating(ctx context.Context, config *rest.Config, ns string) {
	other := rest.CopyConfig(config)
	other.Impersonate = rest.ImpersonationConfig{UserName: "somebody", Groups: []string{"nobodies"}}
	_, err := kubernetes.NewForConfigOrDie(other).CoreV1().Secrets(ns).List(ctx, metav1.ListOptions{})
	must("impersonation", apierrors.IsForbidden(err), "%v", err)
	works("impersonation")
}

func electing(ctx context.Context, c kubernetes.Interface, ns string) {
	won := make(chan string, 2)
	run := func(ctx context.Context, id string) {
		lock := &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: "leader", Namespace: ns}, Client: c.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: id}}
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { won <- id }, OnStoppedLeading: func() {}},
		})
	}
	first, stop := context.WithCancel(ctx)
	go run(first, "one")
	must("election", <-won == "one", "another")
	second, stopSecond := context.WithCancel(ctx)
	defer stopSecond()
	go run(second, "two")
	stop()
	select {
	case id := <-won:
		must("election", id == "two", "%s", id)
	case <-ctx.Done():
		check("election", fmt.Errorf("never handed over"))
	}
	works("leader election")
}

func metadataOnly(ctx context.Context, config *rest.Config, ns string) {
	c := metadata.NewForConfigOrDie(config)
	list, err := c.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(ns).List(ctx, metav1.ListOptions{})
	check("metadata list", err)
	must("metadata list", len(list.Items) > 0 && list.Items[0].Name != "", "empty")
	works("the metadata client")
}
