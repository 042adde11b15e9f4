import { setTimeout as wait } from 'node:timers/promises'
import type { Cluster } from '../cluster.ts'
import { namespace, type Profile, providedSecrets, releaseName } from '../release.ts'
import { type Outcome, problemIf } from '../scenario.ts'

const pollMs = 3_000
const maxAttempts = 20

/** Objects that every namespace has, or that only describe others. */
const ofNamespace =
  /^(configmap\/kube-root-ca\.crt|serviceaccount\/default|event|events\.events\.k8s\.io\/|endpoints\/|endpointslice|podmetrics|secret\/sh\.helm)/
/** Objects that this test has created. */
const provided = new Set(providedSecrets.map((name) => `secret/${name}`))
/** The Secret with the passwords of the kept servers, which the README of the chart announces. */
const keptSecret = 'secret/watchhouse-generated'
/** Volume claims that the README announces, by profile. */
const keptClaims: Readonly<Record<Profile, readonly string[]>> = {
  default: ['data-watchhouse-nats-0', 'data-watchhouse-postgresql-0', 'data-watchhouse-redis-0'],
  fleet: ['data-watchhouse-nats-0', 'data-watchhouse-nats-1', 'data-watchhouse-nats-2'],
  single: ['watchhouse-state'],
}

/** Uninstalls the release, and removes the namespace afterwards. Only announced objects may remain. */
export const uninstall = async (cluster: Cluster, profile: Profile): Promise<Outcome> => {
  await cluster.helm(['uninstall', releaseName, '--namespace', namespace, '--wait', '--timeout', '8m'], {
    timeoutMs: 500_000,
  })
  const announced = [keptSecret, ...keptClaims[profile].map((name) => `persistentvolumeclaim/${name}`)]
  const remaining = await listRemaining(cluster, announced)
  const missing = announced.filter((name) => !remaining.includes(name))
  const unexpected = remaining.filter((name) => !announced.includes(name))
  await cluster.kubectl(['delete', 'namespace', namespace, '--timeout=300s'], { timeoutMs: 310_000 })
  return {
    measured: `${remaining.length} objects remain: ${remaining.join(', ')}`,
    problems: [
      ...problemIf(unexpected.length > 0, `remain unannounced: ${unexpected.join(', ')}`),
      ...problemIf(missing.length > 0, `removed with the data of users: ${missing.join(', ')}`),
    ],
  }
}

/** Returns what remains once the cluster has removed the objects that belong to removed ones. */
const listRemaining = async (cluster: Cluster, announced: readonly string[]): Promise<string[]> => {
  for (let attempt = 1; ; attempt++) {
    const remaining = await listObjects(cluster)
    if (attempt === maxAttempts || remaining.every((name) => announced.includes(name))) return remaining
    await wait(pollMs)
  }
}

/** Returns the objects in the namespace of the product that belong to the release. */
const listObjects = async (cluster: Cluster): Promise<string[]> => {
  const kinds = await cluster.kubectl(['api-resources', '--namespaced', '--verbs=list,delete', '-o', 'name'])
  const list = kinds.trim().split('\n').join(',')
  const names = await cluster.kubectl(['-n', namespace, 'get', list, '-o', 'name', '--ignore-not-found'])
  return names.split('\n').filter((name) => name !== '' && !ofNamespace.test(name) && !provided.has(name))
}
