#!/bin/sh
# Builds etcd and Kubernetes' server programs, in the versions that go.mod here pins, into a folder: build.sh FOLDER
# The modules come through Go's module proxy; nothing but Go is needed.
set -eu

out=$1
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"

command -v go >/dev/null 2>&1 || {
    echo "make envtest needs Go (go.mod in tools/envtest says which); docs/real-server.md tells more" >&2
    exit 1
}

version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
package=k8s.io/component-base/version
minor=${version#v1.}
flags="-s -w -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*} -X $package.gitTreeState=clean"

go build -ldflags '-s -w' -o "$out/etcd" ./etcd
for program in kube-apiserver kube-controller-manager kube-scheduler; do
    go build -ldflags "$flags" -o "$out/$program" "k8s.io/kubernetes/cmd/$program"
done

echo "export KUBEBUILDER_ASSETS=$out"
