// SPDX-License-Identifier: LGPL-2.1-or-later

// cri asks a container runtime for a pod as a kubelet does, and prints what its containers say.
//
// usage: cri SOCKET IMAGE PID ANNOTATION=VALUE,... NAME [COMMAND...]
//
// The pod has the RuntimeClass handler "timens", the host's network, and pid namespaces of the kind
// PID: CONTAINER (one each) or POD (shared).  The container NAME says its uptime into /tmp/NAME.log
// and sleeps; COMMAND is what exec runs inside.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func annotations(text string) map[string]string {
	found := map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			found[key] = value
		}
	}
	return found
}

func check(err error) {
	if err != nil {
		log.Panic(err) // not Fatal: what was made is removed by defer
	}
}

func main() {
	log.SetFlags(0)
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	link, err := grpc.NewClient("unix://"+os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(err)
	client := cri.NewRuntimeServiceClient(link)
	name, command := os.Args[5], os.Args[6:]

	namespaces := &cri.NamespaceOption{
		Network: cri.NamespaceMode_NODE,
		Pid:     cri.NamespaceMode(cri.NamespaceMode_value[os.Args[3]]),
	}
	pod := &cri.PodSandboxConfig{
		Metadata:     &cri.PodSandboxMetadata{Name: "clocks", Uid: name, Namespace: "default"},
		Annotations:  annotations(os.Args[4]),
		LogDirectory: "/tmp",
		Linux: &cri.LinuxPodSandboxConfig{
			SecurityContext: &cri.LinuxSandboxSecurityContext{NamespaceOptions: namespaces},
		},
	}
	sandbox, err := client.RunPodSandbox(ctx, &cri.RunPodSandboxRequest{Config: pod, RuntimeHandler: "timens"})
	check(err)
	defer client.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: sandbox.PodSandboxId})
	defer client.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: sandbox.PodSandboxId})

	created, err := client.CreateContainer(ctx, &cri.CreateContainerRequest{
		PodSandboxId:  sandbox.PodSandboxId,
		SandboxConfig: pod,
		Config: &cri.ContainerConfig{
			Metadata: &cri.ContainerMetadata{Name: name},
			Image:    &cri.ImageSpec{Image: os.Args[2]},
			Command:  []string{"sh", "-c", "cat /proc/uptime; exec sleep 100"},
			LogPath:  name + ".log",
			Linux: &cri.LinuxContainerConfig{
				SecurityContext: &cri.LinuxContainerSecurityContext{NamespaceOptions: namespaces},
			},
		},
	})
	check(err)
	_, err = client.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: created.ContainerId})
	check(err)
	said, err := client.ExecSync(ctx, &cri.ExecSyncRequest{ContainerId: created.ContainerId, Cmd: command, Timeout: 20})
	check(err)
	fmt.Printf("%s%s", said.Stdout, said.Stderr)
	status, err := client.PodSandboxStatus(ctx, &cri.PodSandboxStatusRequest{PodSandboxId: sandbox.PodSandboxId})
	check(err)
	fmt.Printf("sandbox %s\n", status.Status.State)
}
