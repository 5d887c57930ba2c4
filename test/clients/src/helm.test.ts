import { type Session, sessions } from './session.js'

const state = 'kubectl get gadgets,configmaps,secrets,serviceaccounts,roles,rolebindings -n $NS -o name'

const all: Readonly<Record<string, Session>> = {
  'life of a release': [
    'helm install demo chart -n $NS --create-namespace --dry-run=server | grep -v CERT',
    'helm install demo chart -n $NS --create-namespace',
    'helm install demo chart -n $NS',
    state,
    'kubectl get -n $NS configmap demo-settings -o yaml',
    'kubectl get -n $NS gadget demo -o yaml --show-managed-fields',
    'kubectl get -n $NS configmap demo-hook -o jsonpath={.data}',
    'helm list -n $NS',
    'helm status demo -n $NS',
    'helm get manifest demo -n $NS',
    'helm get values demo -n $NS --all',
    'helm get hooks demo -n $NS',
    'helm upgrade demo chart -n $NS --set colour=green,replicas=2,extra=true --dry-run=server | grep -E "colour|before"',
    'helm upgrade demo chart -n $NS --set colour=green,replicas=2,extra=true',
    'kubectl get -n $NS gadget demo -o jsonpath={.spec}',
    'kubectl get -n $NS configmap demo-settings -o jsonpath={.data}',
    'kubectl get -n $NS configmap demo-hook -o jsonpath={.data}',
    'helm upgrade demo chart -n $NS --reuse-values --set broken=true',
    'helm history demo -n $NS',
    'helm rollback demo 1 -n $NS --wait',
    'kubectl get -n $NS gadget demo -o jsonpath={.spec}',
    state,
    'helm upgrade demo chart -n $NS --atomic --timeout 90s --set colour=blue,broken=true',
    'helm history demo -n $NS -o json | grep -o \'"status":"[^"]*"\'',
    'kubectl get -n $NS gadget demo -o jsonpath={.spec}',
    'helm install other chart -n $NS --atomic --timeout 90s --set broken=true --skip-crds',
    'helm status other -n $NS',
    'helm get metadata demo -n $NS | grep -vE "DEPLOYED_AT"',
    'helm uninstall demo -n $NS --keep-history --wait',
    state,
    'helm list -n $NS --all',
    'helm uninstall demo -n $NS',
    'helm uninstall demo -n $NS',
    'kubectl get crd gadgets.helm.crosstie.example -o name',
    'kubectl delete namespace $NS --wait=false',
  ],
  'install or upgrade': [
    'helm upgrade --install again chart -n $NS --create-namespace --wait --timeout 90s',
    'helm upgrade --install again chart -n $NS --wait --set colour=blue',
    'helm template again chart -n $NS --validate --is-upgrade --show-only templates/gadget.yaml',
    'kubectl label -n $NS gadget again drift=yes && kubectl patch -n $NS gadget again --type=merge -p \'{"spec":{"colour":"red"}}\'',
    'helm upgrade again chart -n $NS --set colour=blue --force=false',
    'kubectl get -n $NS gadget again -o jsonpath="{.spec.colour} {.metadata.labels}"',
    'kubectl create configmap taken-settings -n $NS',
    'helm install taken chart -n $NS',
    'helm uninstall again -n $NS --cascade foreground',
    'kubectl delete namespace $NS --wait=false',
  ],
}

await sessions('helm', all, {
  fixtures: 'fixtures/helm',
  programs: ['helm', 'kubectl'],
  // The first release installs the CRD, and the second finds it.
  concurrency: 1,
})
