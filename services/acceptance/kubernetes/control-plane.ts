import { join } from 'node:path'
import { retryUntil } from '../../testing/fetch-json.ts'
import { apiServerUrl, type Certificates } from './certificates.ts'
import { addresses, type Machine, programs } from './machine.ts'

const etcdUrl = 'http://127.0.0.1:2379'
const readyWithinMs = 180_000

/** Starts etcd, the API server, the controller manager and the scheduler on a machine. */
export const startControlPlane = async (machine: Machine, certificates: Certificates): Promise<void> => {
  const { file, client } = certificates
  // The data of a test need not survive a power failure, and its disk may be slow.
  await machine.start('etcd', ['etcd', '--data-dir', join(machine.directory, 'etcd'), ...etcdOptions])
  await machine.start('api-server', [join(programs, 'kube-apiserver'), ...apiServerOptions(machine, file)])
  const identity = ['--cert', file('admin.crt'), '--key', file('admin.key'), '--cacert', file('ca.crt')]
  const readiness = ['curl', '--silent', '--max-time', '5', ...identity, `${apiServerUrl}/readyz`]
  // The others end if they find no server.
  await retryUntil(
    () => machine.run(readiness).catch(String),
    (answer) => answer === 'ok',
    readyWithinMs,
  )
  const credentials = (name: string) => {
    const options = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig']
    const paths = options.map((option) => `--${option}=${client(name)}`)
    return [...paths, '--leader-elect=false', '--bind-address=127.0.0.1']
  }
  await machine.start('controller-manager', [
    join(programs, 'kube-controller-manager'),
    ...credentials('controller-manager'),
    `--service-account-private-key-file=${file('accounts.key')}`,
    `--root-ca-file=${file('ca.crt')}`,
    '--use-service-account-credentials=true',
  ])
  await machine.start('scheduler', [join(programs, 'kube-scheduler'), ...credentials('scheduler')])
}

const etcdOptions = [
  `--listen-client-urls=${etcdUrl}`,
  `--advertise-client-urls=${etcdUrl}`,
  '--listen-peer-urls=http://127.0.0.1:2380',
  '--unsafe-no-fsync',
]

const apiServerOptions = (machine: Machine, file: Certificates['file']): string[] => [
  `--etcd-servers=${etcdUrl}`,
  `--advertise-address=${machine.address}`,
  '--bind-address=0.0.0.0',
  '--secure-port=6443',
  `--tls-cert-file=${file('server.crt')}`,
  `--tls-private-key-file=${file('server.key')}`,
  `--client-ca-file=${file('ca.crt')}`,
  `--cert-dir=${join(machine.directory, 'api-server')}`,
  `--service-account-key-file=${file('accounts.pub')}`,
  `--service-account-signing-key-file=${file('accounts.key')}`,
  '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
  `--service-cluster-ip-range=${addresses.services}`,
  '--authorization-mode=Node,RBAC',
  '--allow-privileged=true',
  `--kubelet-client-certificate=${file('kubelet-client.crt')}`,
  `--kubelet-client-key=${file('kubelet-client.key')}`,
  '--kubelet-preferred-address-types=InternalIP',
  `--requestheader-client-ca-file=${file('front.crt')}`,
  '--requestheader-allowed-names=front-proxy-client',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-username-headers=X-Remote-User',
  `--proxy-client-cert-file=${file('front-client.crt')}`,
  `--proxy-client-key-file=${file('front-client.key')}`,
  '--profiling=false',
]
