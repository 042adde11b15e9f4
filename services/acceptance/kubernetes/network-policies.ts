import { appendFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import type { Certificates } from './certificates.ts'
import { addresses, type Machine, programs } from './machine.ts'
import { listAddressedPods, Namespace, NetworkPolicy, Pod } from './network-policy-objects.ts'
import { formatPolicyTable } from './network-policy-rules.ts'

const pollMs = 400
const timeoutMs = 10_000

/**
 * Enforces the NetworkPolicies of a cluster with nftables on its machines, until it is disposed. A new pod can send
 * only after the next poll, as with most network plugins.
 */
export const enforceNetworkPolicies = async (
  machines: readonly Machine[],
  { client }: Certificates,
): Promise<AsyncDisposable> => {
  const [first] = machines
  if (first === undefined) throw new Error('a cluster without machines has no network')
  // The socket is a file, so this process reaches it from outside the network of the machine.
  const socket = join(first.directory, 'api.sock')
  const proxy = ['proxy', `--kubeconfig=${client('admin')}`, `--unix-socket=${socket}`]
  await first.start('api-proxy', [join(programs, 'kubectl'), ...proxy])
  const log = join(first.directory, 'network-policies.log')
  const stopping = new AbortController()
  let table = ''
  const update = async () => {
    const next = formatPolicyTable(await readTraffic(socket))
    if (next === table) return
    await Promise.all(machines.map((machine) => machine.run(['nft', '-f', '-'], { input: next })))
    table = next
  }
  const work = async () => {
    while (!stopping.signal.aborted) {
      // The next poll repeats what failed. An outage of the API server must not stop the pods.
      await update().catch((error: unknown) => appendFile(log, `${String(error)}\n`))
      await wait(pollMs)
    }
  }
  const working = work()
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await working
    },
  }
}

const readTraffic = async (socket: string) => {
  const list = async <T>(path: string, item: z.ZodType<T>): Promise<T[]> =>
    z.object({ items: z.array(item) }).parse(await readJson(socket, path)).items
  const namespaces = await list('/api/v1/namespaces', Namespace)
  return {
    pods: listAddressedPods(await list('/api/v1/pods', Pod)),
    namespaces: new Map(namespaces.map(({ metadata }) => [metadata.name, metadata.labels])),
    policies: await list('/apis/networking.k8s.io/v1/networkpolicies', NetworkPolicy),
    podNetwork: `${addresses.pods}.0.0/16`,
  }
}

const readJson = (socketPath: string, path: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, timeout: timeoutMs }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text))
        else reject(new Error(`${path} returned ${response.statusCode}: ${text.slice(0, 200)}`))
      })
    })
    sent.on('timeout', () => sent.destroy(new Error(`${path} did not answer within ${timeoutMs} ms`)))
    sent.on('error', reject)
    sent.end()
  })
