// Writes the compact table of the Go types behind the built-in kinds: names,
// types and numbers, from reflection and the OpenAPI definitions' facts.
//
//	cd scripts/kinds && go run . > ../../packages/apiserver/src/gotypes/types.generated.ts
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	autoscaling "k8s.io/api/autoscaling/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	events "k8s.io/api/events/v1"
	rbac "k8s.io/api/rbac/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

var roots = []any{
	core.Namespace{}, core.Secret{}, core.ConfigMap{}, core.Event{}, core.ServiceAccount{},
	events.Event{}, coordination.Lease{},
	rbac.Role{}, rbac.ClusterRole{}, rbac.RoleBinding{}, rbac.ClusterRoleBinding{},
	authentication.TokenReview{}, authentication.SelfSubjectReview{}, authentication.TokenRequest{},
	authorization.SubjectAccessReview{}, authorization.SelfSubjectAccessReview{},
	authorization.LocalSubjectAccessReview{}, authorization.SelfSubjectRulesReview{},
	apiextensions.CustomResourceDefinition{},
	admissionregistration.ValidatingWebhookConfiguration{}, admissionregistration.MutatingWebhookConfiguration{},
	admissionregistration.ValidatingAdmissionPolicy{}, admissionregistration.ValidatingAdmissionPolicyBinding{},
	autoscaling.Scale{},
	meta.DeleteOptions{}, meta.Status{}, meta.PartialObjectMetadata{}, meta.Table{},
	meta.APIGroup{}, meta.APIGroupList{}, meta.APIResourceList{}, meta.APIVersions{}, meta.ListMeta{}, meta.WatchEvent{},
}

// Types that marshal themselves; the table's readers know each by name.
var special = map[reflect.Type]string{
	reflect.TypeOf(meta.Time{}):                                  "!Time",
	reflect.TypeOf(meta.MicroTime{}):                             "!MicroTime",
	reflect.TypeOf(meta.FieldsV1{}):                              "!FieldsV1",
	reflect.TypeOf(runtime.RawExtension{}):                       "!RawExtension",
	reflect.TypeOf(intstr.IntOrString{}):                         "!IntOrString",
	reflect.TypeOf(apiextensions.JSON{}):                         "!JSON",
	reflect.TypeOf(apiextensions.JSONSchemaPropsOrBool{}):        "!JSONSchemaPropsOrBool",
	reflect.TypeOf(apiextensions.JSONSchemaPropsOrArray{}):       "!JSONSchemaPropsOrArray",
	reflect.TypeOf(apiextensions.JSONSchemaPropsOrStringArray{}): "!JSONSchemaPropsOrStringArray",
}

var definitions = openapi.GetOpenAPIDefinitions(func(name string) spec.Ref { return spec.MustCreateRef(name) })
var seen = map[reflect.Type]bool{}
var queue []reflect.Type

func main() {
	for _, root := range roots {
		want(reflect.TypeOf(root))
	}
	var rows []string
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		rows = append(rows, row(next))
	}
	sort.Strings(rows)
	fmt.Print("// Written by scripts/kinds. Do not edit.\n\n")
	fmt.Print("/** Go types by OpenAPI model name; a line per field: name, type, number in protobuf, flags, facts. */\n")
	fmt.Print("export const goTypes: Readonly<Record<string, string>> = {\n")
	fmt.Print(strings.Join(rows, ""))
	fmt.Print("}\n")
}

func want(t reflect.Type) {
	if !seen[t] {
		seen[t] = true
		queue = append(queue, t)
	}
}

func modelName(t reflect.Type) string {
	parts := strings.SplitN(t.PkgPath()+"."+t.Name(), "/", 2)
	host := strings.Split(parts[0], ".")
	for i, j := 0, len(host)-1; i < j; i, j = i+1, j-1 {
		host[i], host[j] = host[j], host[i]
	}
	return strings.Join(host, ".") + "." + strings.ReplaceAll(parts[1], "/", ".")
}

func row(t reflect.Type) string {
	definition := definitions[t.PkgPath()+"."+t.Name()]
	lines := []string{t.String() + facts(structFacts(definition.Schema))}
	lines = append(lines, fieldLines(t, definition, "")...)
	text, err := json.Marshal(strings.Join(lines, "\n"))
	check(err)
	return fmt.Sprintf("  '%s':\n    %s,\n", modelName(t), text)
}

// An embedded struct is flat in JSON but a message of its own in protobuf: its
// fields' numbers are paths (2.1). Those of TypeMeta travel in the envelope: 0.
func fieldLines(t reflect.Type, definition common.OpenAPIDefinition, within string) []string {
	var lines []string
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		tag := strings.Split(field.Tag.Get("json"), ",")
		if tag[0] == "-" || !field.IsExported() {
			continue
		}
		if tag[0] == "" {
			lines = append(lines, fieldLines(field.Type, definition, within+protobufNumber(field)+".")...)
			continue
		}
		flags := "-"
		for _, option := range tag[1:] {
			switch option {
			case "omitempty":
				flags += "o"
			case "omitzero":
				flags += "z"
			default:
				check(fmt.Errorf("unknown option %s of %s.%s", option, t, field.Name))
			}
		}
		for _, required := range definition.Schema.Required {
			if required == tag[0] {
				flags += "r"
			}
		}
		number := within + protobufNumber(field)
		if strings.HasPrefix(number, "0.") {
			number = "0"
		}
		property := definition.Schema.Properties[tag[0]]
		found := fieldFacts(property)
		if strategy := field.Tag.Get("patchStrategy"); strategy != "" {
			found["strategy"] = strategy
		}
		if key := field.Tag.Get("patchMergeKey"); key != "" {
			found["mergeKey"] = key
		}
		lines = append(lines, strings.Join([]string{tag[0], typeOf(field.Type), number, flags}, " ")+facts(found))
	}
	return lines
}

func protobufNumber(field reflect.StructField) string {
	if tag := strings.Split(field.Tag.Get("protobuf"), ","); len(tag) > 1 {
		return tag[1]
	}
	return "0"
}

func typeOf(t reflect.Type) string {
	if name, ok := special[t]; ok {
		if strings.Contains(name, "JSONSchema") {
			want(reflect.TypeOf(apiextensions.JSONSchemaProps{}))
		}
		return name
	}
	if t.Kind() == reflect.Struct {
		want(t)
		return "@" + modelName(t)
	}
	if t.PkgPath() != "" {
		return t.String() + "=" + unnamed(t)
	}
	return unnamed(t)
}

func unnamed(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return "?" + typeOf(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + typeOf(t.Elem())
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			check(fmt.Errorf("key of %s", t))
		}
		return "{}" + typeOf(t.Elem())
	case reflect.Interface:
		return "any"
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		return t.Kind().String()
	}
	check(fmt.Errorf("no word for %s", t))
	return ""
}

func structFacts(schema spec.Schema) map[string]any {
	found := map[string]any{}
	extensionFacts(schema.Extensions, found)
	return found
}

func fieldFacts(schema spec.Schema) map[string]any {
	found := map[string]any{}
	extensionFacts(schema.Extensions, found)
	if schema.Default != nil && !reflect.ValueOf(schema.Default).IsZero() && fmt.Sprint(schema.Default) != "map[]" {
		found["default"] = schema.Default
	}
	if len(schema.Enum) > 0 {
		found["enum"] = schema.Enum
	}
	if schema.Format != "" {
		found["format"] = schema.Format
	}
	return found
}

func extensionFacts(extensions spec.Extensions, found map[string]any) {
	for from, to := range map[string]string{
		"x-kubernetes-list-type": "list", "x-kubernetes-list-map-keys": "keys", "x-kubernetes-map-type": "map",
		"x-kubernetes-unions": "unions",
	} {
		if value, ok := extensions[from]; ok {
			found[to] = value
		}
	}
}

func facts(found map[string]any) string {
	if len(found) == 0 {
		return ""
	}
	text, err := json.Marshal(found)
	check(err)
	return " " + string(text)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
