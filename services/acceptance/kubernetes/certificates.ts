import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from './command.ts'
import { addresses } from './machine.ts'

/** The identities of the programs of a cluster, as files in one folder. */
export interface Certificates {
  /** Returns the path of a file, such as `ca.crt`. */
  file(name: string): string
  /** Returns the path of the client configuration of a program. */
  client(name: string): string
}

/** A certificate with its subject. The first part of the subject of a client is its group. */
interface Identity {
  name: string
  subject: string
  authority?: 'ca' | 'front'
  names?: readonly string[]
}

const days = '30'
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
const firstMachine = `${addresses.machines}.1`
const firstService = '10.96.0.1'

/** The address of the API server. */
export const apiServerUrl = `https://${firstMachine}:6443`

const serverNames = [
  'DNS:kubernetes',
  'DNS:kubernetes.default',
  'DNS:kubernetes.default.svc',
  'DNS:kubernetes.default.svc.cluster.local',
  `IP:${firstService}`,
  `IP:${firstMachine}`,
  'IP:127.0.0.1',
]
/** Programs that call the API server. */
const clients: Identity[] = [
  { name: 'admin', subject: '/O=system:masters/CN=admin' },
  { name: 'controller-manager', subject: '/CN=system:kube-controller-manager' },
  { name: 'scheduler', subject: '/CN=system:kube-scheduler' },
  { name: 'proxy', subject: '/CN=system:kube-proxy' },
]

/** Creates an authority, and the certificates of a cluster with these nodes. */
export const createCertificates = async (
  folder: string,
  nodes: readonly { name: string; address: string }[],
): Promise<Certificates> => {
  await mkdir(folder, { recursive: true })
  const file = (name: string) => join(folder, name)
  const openssl = (...words: string[]) => runCommand(['openssl', ...words], { directory: folder })
  for (const name of ['ca', 'front']) {
    const subject = ['-subj', `/CN=${name}-of-the-cluster`, '-days', days]
    await openssl('req', '-x509', ...newKey, ...subject, '-keyout', `${name}.key`, '-out', `${name}.crt`)
  }
  await openssl('genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048', '-out', 'accounts.key')
  await openssl('pkey', '-in', 'accounts.key', '-pubout', '-out', 'accounts.pub')
  const nodeClients = nodes.map(({ name, address }) => {
    const names = [`DNS:${name}`, `IP:${address}`]
    return { name, subject: `/O=system:nodes/CN=system:node:${name}`, names }
  })
  const identities: Identity[] = [
    { name: 'server', subject: '/CN=kube-apiserver', names: serverNames },
    { name: 'kubelet-client', subject: '/O=system:masters/CN=kube-apiserver-kubelet-client' },
    { name: 'front-client', subject: '/CN=front-proxy-client', authority: 'front' },
    ...clients,
    ...nodeClients,
  ]
  for (const { name, subject, authority = 'ca', names = [] } of identities) {
    const usage = ['keyUsage=digitalSignature', 'extendedKeyUsage=serverAuth,clientAuth']
    if (names.length > 0) usage.push(`subjectAltName=${names.join(',')}`)
    await writeFile(file(`${name}.extensions`), `${usage.join('\n')}\n`)
    await openssl('req', ...newKey, '-subj', subject, '-keyout', `${name}.key`, '-out', `${name}.request`)
    const signer = ['-CA', `${authority}.crt`, '-CAkey', `${authority}.key`, '-CAcreateserial', '-days', days]
    const output = ['-extfile', `${name}.extensions`, '-out', `${name}.crt`]
    await openssl('x509', '-req', '-in', `${name}.request`, ...signer, ...output)
  }
  for (const { name } of [...clients, ...nodeClients])
    await writeFile(file(`${name}.conf`), formatClientConfig(file, name))
  return { file, client: (name) => file(`${name}.conf`) }
}

/** Returns the configuration of a client. JSON is YAML. */
const formatClientConfig = (file: (name: string) => string, name: string): string => {
  const cluster = { server: apiServerUrl, 'certificate-authority': file('ca.crt') }
  const user = { 'client-certificate': file(`${name}.crt`), 'client-key': file(`${name}.key`) }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster }],
    users: [{ name, user }],
    contexts: [{ name: 'test', context: { cluster: 'cluster', user: name } }],
    'current-context': 'test',
  })
}
