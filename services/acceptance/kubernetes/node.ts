import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { retryUntil } from '../../testing/fetch-json.ts'
import type { Certificates } from './certificates.ts'
import { addresses, type Machine, programs } from './machine.ts'

const readyWithinMs = 60_000
const importWithinMs = 600_000

/** The node of a cluster that a machine runs. */
export interface Node {
  readonly machine: Machine
  /** Kills the first process of a container. */
  kill(container: string): Promise<void>
}

/** Starts containerd, kubelet and kube-proxy on a machine, with these images. */
export const startNode = async (
  machine: Machine,
  { file, client }: Certificates,
  images: readonly string[],
): Promise<Node> => {
  const { name, directory } = machine
  const settings = join(directory, 'settings')
  await mkdir(join(settings, 'network'), { recursive: true })
  const write = (path: string, value: object) => writeFile(join(settings, path), JSON.stringify(value))
  const socket = join(directory, 'containerd.sock')
  await writeFile(join(settings, 'containerd.toml'), formatContainerdConfig(directory, socket, settings))
  await write('network/pods.conflist', networkConfig(machine))
  // A resolver that never answers: pods use the DNS of the cluster, which knows no other names.
  await writeFile(join(settings, 'resolv.conf'), `nameserver ${addresses.machines}.254\n`)
  await write('kubelet.json', kubeletConfig(machine, file, { socket, settings }))
  await write('proxy.json', proxyConfig(machine, client('proxy')))

  await machine.start('containerd', ['containerd', '--config', join(settings, 'containerd.toml')])
  const control = (...words: string[]) =>
    machine.run(['ctr', '--address', socket, '--namespace', 'k8s.io', ...words], { timeoutMs: importWithinMs })
  await retryUntil(
    () => control('version').catch(() => undefined),
    (version) => version !== undefined,
    readyWithinMs,
  )
  for (const image of images) await control('images', 'import', image)
  await machine.start('kubelet', [
    join(programs, 'kubelet'),
    `--config=${join(settings, 'kubelet.json')}`,
    `--kubeconfig=${client(name)}`,
    `--root-dir=${join(directory, 'kubelet')}`,
    `--cert-dir=${join(directory, 'kubelet-certificates')}`,
    `--hostname-override=${name}`,
    `--node-ip=${machine.address}`,
  ])
  await machine.start('proxy', [join(programs, 'kube-proxy'), `--config=${join(settings, 'proxy.json')}`])
  return { machine, kill: async (container) => void (await control('tasks', 'kill', '--signal', 'SIGKILL', container)) }
}

/** Out-of-memory scores below those of this process need more rights than a container may have. */
const formatContainerdConfig = (directory: string, socket: string, settings: string): string => `version = 2
root = "${directory}/containerd/root"
state = "${directory}/containerd/state"
[grpc]
  address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:test"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${settings}/network"
`

const networkConfig = ({ podNetwork, directory }: Machine): object => ({
  cniVersion: '0.4.0',
  name: 'pods',
  plugins: [
    {
      type: 'ptp',
      ipMasq: false,
      ipam: {
        type: 'host-local',
        dataDir: join(directory, 'pod-addresses'),
        ranges: [[{ subnet: podNetwork }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
})

const kubeletConfig = (
  { name, address, controlGroup, directory }: Machine,
  file: Certificates['file'],
  { socket, settings }: { socket: string; settings: string },
): object => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  address,
  cgroupDriver: 'cgroupfs',
  cgroupRoot: `/${controlGroup}`,
  failCgroupV1: false,
  failSwapOn: false,
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: file('ca.crt') },
  },
  authorization: { mode: 'Webhook' },
  tlsCertFile: file(`${name}.crt`),
  tlsPrivateKeyFile: file(`${name}.key`),
  clusterDNS: [addresses.dns],
  clusterDomain: 'cluster.local',
  containerRuntimeEndpoint: `unix://${socket}`,
  resolvConf: join(settings, 'resolv.conf'),
  enforceNodeAllocatable: ['pods'],
  evictionHard: { 'memory.available': '200Mi', 'nodefs.available': '2%', 'imagefs.available': '2%' },
  imageGCHighThresholdPercent: 99,
  imageGCLowThresholdPercent: 98,
  podLogsDir: join(directory, 'pod-logs'),
})

const proxyConfig = ({ name, address }: Machine, kubeconfig: string): object => ({
  apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
  kind: 'KubeProxyConfiguration',
  bindAddress: address,
  clientConnection: { kubeconfig },
  clusterCIDR: `${addresses.pods}.0.0/16`,
  hostnameOverride: name,
  mode: 'nftables',
  // The limits of connection tracking belong to the whole machine.
  conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
})
