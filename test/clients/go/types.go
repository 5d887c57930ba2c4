package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

type runtimeObject = runtime.Object

var everything = labels.Everything()

// typedEvents is the sink that recorders of core events write to.
type typedEvents struct {
	Interface typedcorev1.EventInterface
}

func (e *typedEvents) Create(event *corev1.Event) (*corev1.Event, error) {
	return e.Interface.CreateWithEventNamespace(event)
}

func (e *typedEvents) Update(event *corev1.Event) (*corev1.Event, error) {
	return e.Interface.UpdateWithEventNamespace(event)
}

func (e *typedEvents) Patch(event *corev1.Event, data []byte) (*corev1.Event, error) {
	return e.Interface.PatchWithEventNamespace(event, data)
}
