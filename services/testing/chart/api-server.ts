import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, type Dispatcher, request } from 'undici'
import { z } from 'zod'
import { fetchJson, retryUntil } from '../fetch-json.ts'
import { reserveFreePort } from '../servers/port.ts'
import { startProcess } from '../servers/process.ts'
import type { TestServer } from '../servers/server.ts'
import { findProgram } from '../servers/server-source.ts'
import type { RenderedObject } from './helm.ts'

/** A Kubernetes API server without nodes and controllers: it validates and stores objects, but runs no pods. */
export interface ApiServer extends AsyncDisposable {
  /** Applies an object. Returns the errors and warnings, or undefined if there are none. `trial` makes it a dry run. */
  apply(object: KubernetesObject, namespace?: string, trial?: 'trial'): Promise<string | undefined>
}

export type KubernetesObject = Pick<RenderedObject, 'kind' | 'metadata'> & { apiVersion: string }

const token = 'token-of-the-test'
const slowStartMs = 180_000

const Kinds = z.object({
  resources: z.array(z.object({ kind: z.string(), name: z.string(), namespaced: z.boolean() })),
})
const Refusal = z.object({ message: z.string() })

/** Starts the API server that `.ci/kubernetes` built, with its own etcd. */
export const startApiServer = async (): Promise<ApiServer> => {
  await using opening = new AsyncDisposableStack()
  const etcd = opening.use(await startEtcd())
  const agent = opening.use(createTrustingAgent())
  const call = caller(agent)
  const { url } = opening.use(await startKubernetes(etcd.url, call))
  const all = opening.move()
  return {
    async apply(object, namespace, trial) {
      const path = await pathOf(object, namespace, (folder) => call('GET', url + folder))
      const query = `fieldManager=test&force=true&fieldValidation=Strict${trial ? '&dryRun=All' : ''}`
      const { statusCode, headers, body } = await call('PATCH', `${url}${path}?${query}`, JSON.stringify(object))
      const answer = await body.json()
      return statusCode < 300 ? headers.warning?.toString() : Refusal.parse(answer).message
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Returns an HTTP agent that accepts the self-signed certificate of the server, which runs on this machine. */
const createTrustingAgent = (): Agent & AsyncDisposable => {
  const agent = new Agent({ connect: { rejectUnauthorized: false } })
  return Object.assign(agent, { [Symbol.asyncDispose]: () => agent.close() })
}

type Call = (method: 'GET' | 'PATCH', url: string, object?: string) => Promise<Dispatcher.ResponseData>

const caller =
  (dispatcher: Agent): Call =>
  (method, url, object) => {
    const authorization = `Bearer ${token}`
    if (object === undefined) return request(url, { dispatcher, method, headers: { authorization } })
    const headers = { authorization, 'content-type': 'application/apply-patch+yaml' }
    return request(url, { dispatcher, method, headers, body: object })
  }

const pathOf = async (
  { apiVersion, kind, metadata }: KubernetesObject,
  namespace: string | undefined,
  get: (folder: string) => Promise<Dispatcher.ResponseData>,
): Promise<string> => {
  const folder = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  // The server serves a new custom resource only after a delay.
  const found = await retryUntil(
    async () => {
      const { data } = Kinds.safeParse(await (await get(folder)).body.json())
      return data?.resources.find((one) => one.kind === kind && !one.name.includes('/'))
    },
    (one) => one !== undefined,
  )
  const within = found?.namespaced ? `/namespaces/${namespace}` : ''
  return `${folder}${within}/${found?.name}/${metadata.name}`
}

const startEtcd = async (): Promise<TestServer> => {
  const peer = `http://127.0.0.1:${await reserveFreePort()}`
  const url = (port: number) => `http://127.0.0.1:${port}`
  return startProcess({
    program: programOf('etcd'),
    arguments: (directory, port) =>
      flags({
        'data-dir': join(directory, 'data'),
        'listen-peer-urls': peer,
        'listen-client-urls': url(port),
        'advertise-client-urls': url(port),
      }),
    url,
    answers: async (at) => void (await fetchJson(`${at}/health`)),
  })
}

const startKubernetes = (etcd: string, call: Call): Promise<TestServer> =>
  startProcess({
    program: programOf('kube-apiserver'),
    prepare: async (directory) => {
      await writeFile(join(directory, 'tokens.csv'), `${token},admin,admin,system:masters\n`)
      await writeFile(join(directory, 'accounts.key'), accountsKey())
    },
    arguments: (directory, port) =>
      flags({
        'etcd-servers': etcd,
        // Debian's etcd is too old for the watch cache of the server.
        'watch-cache': 'false',
        'bind-address': '127.0.0.1',
        'secure-port': String(port),
        'cert-dir': directory,
        'token-auth-file': join(directory, 'tokens.csv'),
        'authorization-mode': 'RBAC',
        // The server requires these settings, although the tests create no service accounts.
        'service-account-issuer': 'https://kubernetes.default.svc',
        'service-account-key-file': join(directory, 'accounts.key'),
        'service-account-signing-key-file': join(directory, 'accounts.key'),
        'disable-admission-plugins': 'ServiceAccount',
        'service-cluster-ip-range': '10.96.0.0/16',
      }),
    url: (port) => `https://127.0.0.1:${port}`,
    async answers(url) {
      const { statusCode, body } = await call('GET', `${url}/readyz`)
      await body.dump()
      if (statusCode !== 200) throw new Error('not ready')
    },
    readyWithinMs: slowStartMs,
  })

const flags = (values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).map(([name, value]) => `--${name}=${value}`)

const accountsKey = () =>
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' })

const programOf = (name: string): string => {
  const found = findProgram(name)
  if (found === undefined) throw new Error(`program "${name}" not found; run .ci/kubernetes api-server to build it`)
  return found
}
