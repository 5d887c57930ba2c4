package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/tools/record"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/client-go/util/retry"
)

var clientGo = []step{
	{"a definition sent as protobuf is served", installWidgets},
	{"a namespace of its own", makeNamespace},
	{"discovery says the same aggregated and not", discoveryAgrees},
	{"built-in kinds as protobuf", builtInsAsProtobuf},
	{"answers as protobuf say what JSON says", protobufAnswers},
	{"paging with continue", pagingWithContinue},
	{"informers stream their first list", informersStream},
	{"dynamic client and informer", dynamicClient},
	{"metadata client and informer", metadataClient},
	{"apply with generated configurations", applyConfigurations},
	{"retry on conflict", retryOnConflict},
	{"scale client", scaleClient},
	{"impersonation and access reviews", impersonation},
	{"tokens: request, use, review", tokens},
	{"leader election", electsLeaders},
	{"event recorders", eventRecorders},
	{"owners and foreground deletion", foregroundDeletion},
	{"a watch that resumes", watchResumes},
	{"the namespace goes", removeNamespace},
}

func clientset(config *rest.Config) *kubernetes.Clientset {
	return kubernetes.NewForConfigOrDie(config)
}

func makeNamespace(ctx context.Context, w *world) error {
	client := clientset(protobuf(w.config))
	made, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "clients-"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	w.namespace = made.Name
	return eventually(ctx, func(ctx context.Context) error {
		if _, err := client.CoreV1().ServiceAccounts(w.namespace).Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return err
		}
		_, err := client.CoreV1().ConfigMaps(w.namespace).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err
	})
}

func removeNamespace(ctx context.Context, w *world) error {
	client := clientset(w.config)
	if err := client.CoreV1().Namespaces().Delete(ctx, w.namespace, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		_, err := client.CoreV1().Namespaces().Get(ctx, w.namespace, metav1.GetOptions{})
		return expect(apierrors.IsNotFound(err), "it is still there: %v", err)
	})
}

// While a server starts, kinds come to it: what is asked for later shows more.
func discoveryAgrees(ctx context.Context, w *world) error {
	return eventually(ctx, func(ctx context.Context) error { return discoveriesAgree(ctx, w) })
}

func discoveriesAgree(_ context.Context, w *world) error {
	var found [2]string
	for i, legacy := range []bool{false, true} {
		client := discovery.NewDiscoveryClientForConfigOrDie(w.config)
		client.UseLegacyDiscovery = legacy
		groups, lists, err := client.ServerGroupsAndResources()
		if err != nil {
			return err
		}
		var names []string
		for _, group := range groups {
			names = append(names, "preferred "+group.PreferredVersion.GroupVersion)
		}
		for _, list := range lists {
			for _, r := range list.APIResources {
				names = append(names, fmt.Sprintf("%s %s %s %v %v", list.GroupVersion, r.Name, r.Kind, r.Namespaced, r.Verbs))
			}
		}
		sort.Strings(names)
		found[i] = strings.Join(names, "\n")
		grouped, err := restmapper.GetAPIGroupResources(client)
		if err != nil {
			return err
		}
		mapper := restmapper.NewShortcutExpander(restmapper.NewDiscoveryRESTMapper(grouped), client, nil)
		for text, want := range map[string]string{"widgets." + group: "Widget", "cm": "ConfigMap", "crd": "CustomResourceDefinition", "sa": "ServiceAccount"} {
			kind, err := mapper.KindFor(schema.ParseGroupResource(text).WithVersion(""))
			if err != nil {
				return err
			}
			if err := expect(kind.Kind == want, "%s is %v", text, kind); err != nil {
				return err
			}
		}
		mapping, err := mapper.RESTMapping(widgetKind.GroupKind(), widgetKind.Version)
		if err != nil {
			return err
		}
		if err := expect(mapping.Resource == widgetResource && mapping.Scope.Name() == meta.RESTScopeNameNamespace, "mapping %v", mapping); err != nil {
			return err
		}
	}
	if err := expect(found[0] == found[1], "aggregated:\n%s\nnot:\n%s", found[0], found[1]); err != nil {
		return err
	}
	version, err := clientset(w.config).ServerVersion()
	if err != nil {
		return err
	}
	return expect(version.Minor == "34", "version %v", version)
}

func builtInsAsProtobuf(ctx context.Context, w *world) error {
	client := clientset(protobuf(w.config))
	create := metav1.CreateOptions{FieldValidation: "Strict"}
	secret, err := client.CoreV1().Secrets(w.namespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "bytes", Labels: map[string]string{"a": "b"}},
		Data:       map[string][]byte{"all": {0, 1, 127, 128, 255}}, StringData: map[string]string{"text": "é"},
	}, create)
	if err != nil {
		return err
	}
	if err := expect(string(secret.Data["all"]) == "\x00\x01\x7f\x80\xff" && string(secret.Data["text"]) == "é" && secret.Type == corev1.SecretTypeOpaque, "secret %v", secret); err != nil {
		return err
	}
	holder, seconds, now := "me", int32(15), metav1.NewMicroTime(time.Unix(1_700_000_000, 123_456_000))
	lease, err := client.CoordinationV1().Leases(w.namespace).Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "lease"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &now},
	}, create)
	if err != nil {
		return err
	}
	if err := expect(lease.Spec.RenewTime.Equal(&now) && *lease.Spec.LeaseDurationSeconds == 15, "lease %v", lease.Spec); err != nil {
		return err
	}
	role, err := client.RbacV1().Roles(w.namespace).Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list"}}},
	}, create)
	if err != nil {
		return err
	}
	role.Rules[0].Verbs = append(role.Rules[0].Verbs, "watch")
	if role, err = client.RbacV1().Roles(w.namespace).Update(ctx, role, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := expect(len(role.Rules[0].Verbs) == 3, "role %v", role); err != nil {
		return err
	}
	patch := []byte(`{"metadata":{"labels":{"a":null,"c":"d"}}}`)
	for _, kind := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType} {
		if secret, err = client.CoreV1().Secrets(w.namespace).Patch(ctx, "bytes", kind, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
		if err := expect(len(secret.Labels) == 1 && secret.Labels["c"] == "d", "labels %v", secret.Labels); err != nil {
			return err
		}
	}
	_, err = client.CoreV1().Secrets(w.namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "Bad_Name"}}, create)
	if err := expect(apierrors.IsInvalid(err), "an invalid name: %v", err); err != nil {
		return err
	}
	uid := types.UID("not-its-uid")
	err = client.CoreV1().Secrets(w.namespace).Delete(ctx, "bytes", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err := expect(apierrors.IsConflict(err), "a wrong uid: %v", err); err != nil {
		return err
	}
	return client.CoreV1().Secrets(w.namespace).Delete(ctx, "bytes", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &secret.UID}})
}

// protobufAnswers reads every built-in kind twice, once accepting nothing but protobuf.
func protobufAnswers(ctx context.Context, w *world) error {
	only := protobuf(w.config)
	only.AcceptContentTypes = only.ContentType
	json := rest.CopyConfig(w.config)
	json.ContentType, json.AcceptContentTypes = "application/json", "application/json"
	lists := map[string]func(*rest.Config) (runtimeObject, error){
		"namespaces": func(c *rest.Config) (runtimeObject, error) {
			return clientset(c).CoreV1().Namespaces().List(ctx, named("default"))
		},
		"configmaps": func(c *rest.Config) (runtimeObject, error) {
			return clientset(c).CoreV1().ConfigMaps(w.namespace).List(ctx, all)
		},
		"secrets": func(c *rest.Config) (runtimeObject, error) {
			return clientset(c).CoreV1().Secrets(w.namespace).List(ctx, all)
		},
		"serviceaccounts": func(c *rest.Config) (runtimeObject, error) {
			return clientset(c).CoreV1().ServiceAccounts(w.namespace).List(ctx, all)
		},
		"leases": func(c *rest.Config) (runtimeObject, error) {
			return clientset(c).CoordinationV1().Leases(w.namespace).List(ctx, all)
		},
		"roles": func(c *rest.Config) (runtimeObject, error) {
			return clientset(c).RbacV1().Roles(w.namespace).List(ctx, all)
		},
		"clusterroles": func(c *rest.Config) (runtimeObject, error) {
			return clientset(c).RbacV1().ClusterRoles().List(ctx, named("view"))
		},
		"bindings": func(c *rest.Config) (runtimeObject, error) {
			return clientset(c).RbacV1().ClusterRoleBindings().List(ctx, named("cluster-admin"))
		},
		"definitions": func(c *rest.Config) (runtimeObject, error) {
			return apiextensions.NewForConfigOrDie(c).ApiextensionsV1().CustomResourceDefinitions().List(ctx, named("widgets."+group))
		},
		"one role": func(c *rest.Config) (runtimeObject, error) {
			return clientset(c).RbacV1().Roles(w.namespace).Get(ctx, "reader", metav1.GetOptions{})
		},
		"a review": func(c *rest.Config) (runtimeObject, error) {
			return clientset(c).AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{ObjectMeta: metav1.ObjectMeta{}}, metav1.CreateOptions{})
		},
	}
	for name, list := range lists {
		want, err := list(json)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		got, err := list(only)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, object := range []runtimeObject{want, got} {
			if l, ok := object.(metav1.ListInterface); ok {
				l.SetResourceVersion("")
			}
			if o, ok := object.(metav1.Object); ok && name == "a review" {
				o.SetCreationTimestamp(metav1.Time{})
			}
		}
		if err := expect(equality.Semantic.DeepEqual(want, got), "%s:\nJSON %#v\nprotobuf %#v", name, want, got); err != nil {
			return err
		}
	}
	_, err := clientset(only).CoreV1().Secrets(w.namespace).Get(ctx, "absent", metav1.GetOptions{})
	if err := expect(apierrors.IsNotFound(err), "an error as protobuf: %v", err); err != nil {
		return err
	}
	minute := int64(60)
	watcher, err := clientset(only).RbacV1().Roles(w.namespace).Watch(ctx, metav1.ListOptions{TimeoutSeconds: &minute})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	event, open := <-watcher.ResultChan()
	role, ok := event.Object.(*rbacv1.Role)
	return expect(open && ok && event.Type == watch.Added && role.Name == "reader" && len(role.Rules) == 1, "watched %v", event)
}

var all = metav1.ListOptions{}

func named(name string) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: "metadata.name=" + name}
}

func pagingWithContinue(ctx context.Context, w *world) error {
	client := clientset(protobuf(w.config))
	for i := range 25 {
		item := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("page-%02d", i), Labels: map[string]string{"paged": "yes"}}}
		if _, err := client.CoreV1().ConfigMaps(w.namespace).Create(ctx, item, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	options := metav1.ListOptions{Limit: 10, LabelSelector: "paged=yes"}
	version, seen := "", 0
	for page := 0; ; page++ {
		list, err := client.CoreV1().ConfigMaps(w.namespace).List(ctx, options)
		if err != nil {
			return err
		}
		if page == 0 {
			version = list.ResourceVersion
			// The rest of the list was promised as of now: this must not be in it.
			if err := client.CoreV1().ConfigMaps(w.namespace).Delete(ctx, "page-24", metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
		seen += len(list.Items)
		if err := expect(list.ResourceVersion == version, "page %d is of %s, not %s", page, list.ResourceVersion, version); err != nil {
			return err
		}
		if options.Continue = list.Continue; list.Continue == "" {
			break
		}
	}
	if err := expect(seen == 25, "%d of 25 seen", seen); err != nil {
		return err
	}
	count := 0
	each := pager.New(pager.SimplePageFunc(func(options metav1.ListOptions) (result runtimeObject, err error) {
		return client.CoreV1().ConfigMaps(w.namespace).List(ctx, options)
	}))
	each.PageSize = 7
	if err := each.EachListItem(ctx, metav1.ListOptions{LabelSelector: "paged=yes"}, func(runtimeObject) error { count++; return nil }); err != nil {
		return err
	}
	if err := expect(count == 24, "the pager saw %d of 24", count); err != nil {
		return err
	}
	return client.CoreV1().ConfigMaps(w.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "paged=yes"})
}

// streams counts the requests that ask a watch for what is there already.
type streams struct {
	next  http.RoundTripper
	count *atomic.Int32
}

func (s streams) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Get("sendInitialEvents") == "true" {
		s.count.Add(1)
	}
	return s.next.RoundTrip(request)
}

func informersStream(ctx context.Context, w *world) error {
	var count atomic.Int32
	config := protobuf(w.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return streams{next, &count} })
	client := clientset(config)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(w.namespace))
	maps := factory.Core().V1().ConfigMaps()
	kinds := []cache.SharedIndexInformer{
		maps.Informer(), factory.Core().V1().Secrets().Informer(), factory.Core().V1().ServiceAccounts().Informer(),
		factory.Coordination().V1().Leases().Informer(), factory.Rbac().V1().Roles().Informer(), factory.Events().V1().Events().Informer(),
	}
	var updates atomic.Int32
	_, err := maps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { updates.Add(1) }})
	if err != nil {
		return err
	}
	running, stop := context.WithTimeout(ctx, 3*time.Minute)
	defer stop()
	factory.Start(running.Done())
	for kind, ok := range factory.WaitForCacheSync(running.Done()) {
		if err := expect(ok, "%v did not sync", kind); err != nil {
			return err
		}
	}
	if err := expect(int(count.Load()) >= len(kinds), "%d of %d informers streamed", count.Load(), len(kinds)); err != nil {
		return err
	}
	if _, err := maps.Lister().ConfigMaps(w.namespace).Get("kube-root-ca.crt"); err != nil {
		return err
	}
	made, err := client.CoreV1().ConfigMaps(w.namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "seen"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Data = map[string]string{"a": "b"}
	if _, err := client.CoreV1().ConfigMaps(w.namespace).Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	err = eventually(ctx, func(context.Context) error {
		got, err := maps.Lister().ConfigMaps(w.namespace).Get("seen")
		if err != nil {
			return err
		}
		return expect(got.Data["a"] == "b" && updates.Load() == 1, "data %v, %d updates", got.Data, updates.Load())
	})
	if err != nil {
		return err
	}
	if err := client.CoreV1().ConfigMaps(w.namespace).Delete(ctx, "seen", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return eventually(ctx, func(context.Context) error {
		_, err := maps.Lister().ConfigMaps(w.namespace).Get("seen")
		return expect(apierrors.IsNotFound(err), "still cached")
	})
}

func widget(name, colour string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": widgetKind.GroupVersion().String(), "kind": widgetKind.Kind,
		"metadata": map[string]any{"name": name, "labels": map[string]any{"colour": colour}},
		"spec":     map[string]any{"colour": colour},
	}}
}

func dynamicClient(ctx context.Context, w *world) error {
	client := dynamic.NewForConfigOrDie(w.config)
	widgets := client.Resource(widgetResource).Namespace(w.namespace)
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, w.namespace, nil)
	lister := factory.ForResource(widgetResource)
	lister.Informer()
	running, stop := context.WithCancel(ctx)
	defer stop()
	factory.Start(running.Done())
	factory.WaitForCacheSync(running.Done())
	for _, colour := range []string{"red", "blue", "green"} {
		made, err := widgets.Create(ctx, widget(colour, colour), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		replicas, _, _ := unstructured.NestedInt64(made.Object, "spec", "replicas")
		if err := expect(replicas == 1, "not defaulted: %v", made); err != nil {
			return err
		}
	}
	patched, err := widgets.Patch(ctx, "red", types.JSONPatchType, []byte(`[{"op":"add","path":"/status","value":{"replicas":3}}]`), metav1.PatchOptions{}, "status")
	if err != nil {
		return err
	}
	replicas, _, _ := unstructured.NestedInt64(patched.Object, "status", "replicas")
	if err := expect(replicas == 3 && patched.GetGeneration() == 1, "status %v", patched); err != nil {
		return err
	}
	if err := widgets.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "colour in (red,blue)"}); err != nil {
		return err
	}
	return eventually(ctx, func(context.Context) error {
		items, err := lister.Lister().List(everything)
		if err != nil {
			return err
		}
		return expect(len(items) == 1, "%d cached", len(items))
	})
}

func metadataClient(ctx context.Context, w *world) error {
	client := metadata.NewForConfigOrDie(w.config)
	list, err := client.Resource(widgetResource).Namespace(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if err := expect(len(list.Items) == 1 && list.Items[0].Name == "green", "list %v", list.Items); err != nil {
		return err
	}
	patched, err := client.Resource(widgetResource).Namespace(w.namespace).Patch(ctx, "green", types.MergePatchType, []byte(`{"metadata":{"annotations":{"x":"y"}}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if err := expect(patched.Annotations["x"] == "y", "annotations %v", patched.Annotations); err != nil {
		return err
	}
	factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, w.namespace, nil)
	informer := factory.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
	informer.Informer()
	running, stop := context.WithCancel(ctx)
	defer stop()
	factory.Start(running.Done())
	factory.WaitForCacheSync(running.Done())
	_, err = informer.Lister().ByNamespace(w.namespace).Get("kube-root-ca.crt")
	return err
}

func applyConfigurations(ctx context.Context, w *world) error {
	client := clientset(protobuf(w.config))
	maps := client.CoreV1().ConfigMaps(w.namespace)
	mine := metav1.ApplyOptions{FieldManager: "mine"}
	if _, err := maps.Apply(ctx, applycorev1.ConfigMap("applied", w.namespace).WithData(map[string]string{"a": "1", "b": "1"}), mine); err != nil {
		return err
	}
	theirs := applycorev1.ConfigMap("applied", w.namespace).WithData(map[string]string{"b": "2"})
	_, err := maps.Apply(ctx, theirs, metav1.ApplyOptions{FieldManager: "theirs"})
	if err := expect(apierrors.IsConflict(err), "no conflict: %v", err); err != nil {
		return err
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) || len(status.ErrStatus.Details.Causes) != 1 || status.ErrStatus.Details.Causes[0].Field != ".data.b" {
		return fmt.Errorf("causes of %#v", err)
	}
	if _, err = maps.Apply(ctx, theirs, metav1.ApplyOptions{FieldManager: "theirs", Force: true}); err != nil {
		return err
	}
	live, err := maps.Get(ctx, "applied", metav1.GetOptions{})
	if err != nil {
		return err
	}
	extracted, err := applycorev1.ExtractConfigMap(live, "mine")
	if err != nil {
		return err
	}
	if err := expect(len(extracted.Data) == 1 && extracted.Data["a"] == "1", "mine is %v", extracted.Data); err != nil {
		return err
	}
	applied, err := maps.Apply(ctx, applycorev1.ConfigMap("applied", w.namespace), mine)
	if err != nil {
		return err
	}
	return expect(len(applied.Data) == 1 && applied.Data["b"] == "2", "data %v", applied.Data)
}

func retryOnConflict(ctx context.Context, w *world) error {
	maps := clientset(protobuf(w.config)).CoreV1().ConfigMaps(w.namespace)
	if _, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "counter"}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	patient := wait.Backoff{Steps: 100, Duration: 10 * time.Millisecond, Factor: 1, Jitter: 2}
	var group sync.WaitGroup
	failures := make(chan error, 8)
	for writer := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			failures <- retry.RetryOnConflict(patient, func() error {
				current, err := maps.Get(ctx, "counter", metav1.GetOptions{})
				if err != nil {
					return err
				}
				if current.Data == nil {
					current.Data = map[string]string{}
				}
				current.Data[fmt.Sprint(writer)] = "was here"
				_, err = maps.Update(ctx, current, metav1.UpdateOptions{})
				return err
			})
		}()
	}
	group.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			return err
		}
	}
	final, err := maps.Get(ctx, "counter", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return expect(len(final.Data) == 8, "%d of 8 writes are there", len(final.Data))
}

func scaleClient(ctx context.Context, w *world) error {
	grouped, err := restmapper.GetAPIGroupResources(discovery.NewDiscoveryClientForConfigOrDie(w.config))
	if err != nil {
		return err
	}
	resolver := scale.NewDiscoveryScaleKindResolver(discovery.NewDiscoveryClientForConfigOrDie(w.config))
	client, err := scale.NewForConfig(w.config, restmapper.NewDiscoveryRESTMapper(grouped), dynamic.LegacyAPIPathResolverFunc, resolver)
	if err != nil {
		return err
	}
	scales := client.Scales(w.namespace)
	now, err := scales.Get(ctx, widgetResource.GroupResource(), "green", metav1.GetOptions{})
	if err != nil {
		return err
	}
	now.Spec.Replicas = 5
	if _, err := scales.Update(ctx, widgetResource.GroupResource(), now, metav1.UpdateOptions{}); err != nil {
		return err
	}
	patched, err := scales.Patch(ctx, widgetResource, "green", types.MergePatchType, []byte(`{"spec":{"replicas":7}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	return expect(patched.Spec.Replicas == 7, "scale %v", patched)
}

func impersonation(ctx context.Context, w *world) error {
	admin := clientset(w.config)
	config := rest.CopyConfig(w.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "jane", Groups: []string{"readers", "system:authenticated"}, Extra: map[string][]string{"reason": {"test"}}}
	jane := clientset(config)
	who, err := jane.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	user := who.Status.UserInfo
	if err := expect(user.Username == "jane" && user.Extra["reason"][0] == "test", "who: %v", user); err != nil {
		return err
	}
	_, err = jane.CoreV1().ConfigMaps(w.namespace).List(ctx, metav1.ListOptions{})
	if err := expect(apierrors.IsForbidden(err), "she may: %v", err); err != nil {
		return err
	}
	_, err = admin.RbacV1().RoleBindings(w.namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "readers"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "readers"}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	err = eventually(ctx, func(ctx context.Context) error {
		_, err := jane.CoreV1().ConfigMaps(w.namespace).List(ctx, metav1.ListOptions{})
		return err
	})
	if err != nil {
		return err
	}
	for verb, want := range map[string]bool{"list": true, "delete": false} {
		review, err := jane.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: w.namespace, Verb: verb, Resource: "configmaps"},
		}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if err := expect(review.Status.Allowed == want, "%s: %v", verb, review.Status); err != nil {
			return err
		}
	}
	rules, err := jane.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: w.namespace}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	found := false
	for _, rule := range rules.Status.ResourceRules {
		found = found || fmt.Sprint(rule.Resources, rule.Verbs) == "[configmaps] [get list watch]"
	}
	return expect(found, "rules %v", rules.Status)
}

func tokens(ctx context.Context, w *world) error {
	client := clientset(protobuf(w.config))
	accounts := client.CoreV1().ServiceAccounts(w.namespace)
	if _, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	hour := int64(3600)
	token, err := accounts.CreateToken(ctx, "robot", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &hour}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	config := rest.AnonymousClientConfig(w.config)
	config.BearerToken = token.Status.Token
	who, err := clientset(config).AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	want := "system:serviceaccount:" + w.namespace + ":robot"
	if err := expect(who.Status.UserInfo.Username == want, "who: %v", who.Status.UserInfo); err != nil {
		return err
	}
	special, err := accounts.CreateToken(ctx, "robot", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"vault"}, ExpirationSeconds: &hour}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	for audience, want := range map[string]bool{"vault": true, "other": false} {
		review, err := client.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: special.Status.Token, Audiences: []string{audience}}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if err := expect(review.Status.Authenticated == want, "for %s: %v", audience, review.Status); err != nil {
			return err
		}
	}
	if err := accounts.Delete(ctx, "robot", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		_, err := clientset(config).AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		return expect(apierrors.IsUnauthorized(err), "a token of a deleted account: %v", err)
	})
}

func electsLeaders(ctx context.Context, w *world) error {
	client := clientset(w.config)
	led := make(chan string, 10)
	candidate := func(ctx context.Context, name string) {
		lock := &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: w.namespace},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		}
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { led <- name }, OnStoppedLeading: func() {}},
		})
	}
	next := func() string {
		select {
		case name := <-led:
			return name
		case <-time.After(2 * time.Minute):
			return "nobody"
		}
	}
	one, stopOne := context.WithCancel(ctx)
	two, stopTwo := context.WithCancel(ctx)
	defer stopTwo()
	go candidate(one, "one")
	leader := next()
	go candidate(two, "two")
	stopOne()
	return expect(leader == "one" && next() == "two", "%s led first", leader)
}

func eventRecorders(ctx context.Context, w *world) error {
	client := clientset(protobuf(w.config))
	about, err := client.CoreV1().ConfigMaps(w.namespace).Get(ctx, "counter", metav1.GetOptions{})
	if err != nil {
		return err
	}
	old := record.NewBroadcaster()
	defer old.Shutdown()
	old.StartRecordingToSink(&typedEvents{Interface: client.CoreV1().Events(w.namespace)})
	recorder := old.NewRecorder(clientgoscheme.Scheme, corev1.EventSource{Component: "clients"})
	for range 3 {
		recorder.Event(about, corev1.EventTypeNormal, "Counted", "three times the same")
	}
	current := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	defer current.Shutdown()
	if err := current.StartRecordingToSinkWithContext(ctx); err != nil {
		return err
	}
	current.NewRecorder(clientgoscheme.Scheme, "crosstie.example/clients").Eventf(about, nil, corev1.EventTypeNormal, "Noted", "Noting", "once")
	return eventually(ctx, func(ctx context.Context) error {
		selector := fields.Set{"involvedObject.name": "counter"}.AsSelector().String()
		list, err := client.CoreV1().Events(w.namespace).List(ctx, metav1.ListOptions{FieldSelector: selector})
		if err != nil {
			return err
		}
		counts := map[string]int32{}
		for _, event := range list.Items {
			counts[event.Reason] += max(event.Count, 1)
		}
		return expect(counts["Counted"] == 3 && counts["Noted"] == 1, "events %v", counts)
	})
}

func foregroundDeletion(ctx context.Context, w *world) error {
	maps := clientset(w.config).CoreV1().ConfigMaps(w.namespace)
	owner, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	blocks := true
	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", Finalizers: []string{"example.com/hold"}, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: &blocks},
	}}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	// The collector's picture of the world may be a moment old.
	time.Sleep(500 * time.Millisecond)
	foreground := metav1.DeletePropagationForeground
	if err := maps.Delete(ctx, "owner", metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
		return err
	}
	err = eventually(ctx, func(ctx context.Context) error {
		owned, err := maps.Get(ctx, "owned", metav1.GetOptions{})
		if err != nil {
			return err
		}
		return expect(owned.DeletionTimestamp != nil, "the owned one is not being deleted")
	})
	if err != nil {
		return err
	}
	waiting, err := maps.Get(ctx, "owner", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("the owner went first: %w", err)
	}
	if err := expect(fmt.Sprint(waiting.Finalizers) == "[foregroundDeletion]", "finalizers %v", waiting.Finalizers); err != nil {
		return err
	}
	if _, err := maps.Patch(ctx, "owned", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		_, err := maps.Get(ctx, "owner", metav1.GetOptions{})
		return expect(apierrors.IsNotFound(err), "the owner is still there: %v", err)
	})
}

func watchResumes(ctx context.Context, w *world) error {
	maps := clientset(protobuf(w.config)).CoreV1().ConfigMaps(w.namespace)
	made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "watched"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	one := int64(1)
	source := &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		// Ends after a second: the watcher has to resume where it was.
		options.TimeoutSeconds = &one
		options.FieldSelector = "metadata.name=watched"
		return maps.Watch(ctx, options)
	}}
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, made.ResourceVersion, source)
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for i := range 3 {
		made.Data = map[string]string{"i": fmt.Sprint(i)}
		if made, err = maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
			return err
		}
		select {
		case event := <-watcher.ResultChan():
			seen, ok := event.Object.(*corev1.ConfigMap)
			if err := expect(ok && event.Type == watch.Modified && seen.Data["i"] == fmt.Sprint(i), "event %v", event); err != nil {
				return err
			}
		case <-time.After(time.Minute):
			return fmt.Errorf("no event of change %d", i)
		}
		time.Sleep(1200 * time.Millisecond)
	}
	return nil
}
