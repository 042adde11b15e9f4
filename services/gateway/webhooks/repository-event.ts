import { z } from 'zod'
import type { Deployment } from '#proto/deployments.ts'
import { shortenText } from '#shared/text/strings.ts'
import { parseRequestInput } from '../request/parse.ts'

/** The deployment to annotate in charts, or the reason that an event is ignored. */
export type RepositoryEvent = { deployment: Omit<Deployment, 'atMs'> & { atMs: number | null } } | { reason: string }

const word = z.string().min(1)
const time = z.iso.datetime({ offset: true })
const Person = z.object({ login: word }).nullish()
const repository = z.object({ id: z.int(), full_name: word, default_branch: word })

const DeploymentEvent = z.object({
  repository,
  deployment: z.object({
    id: z.int(),
    sha: word,
    ref: word,
    environment: word,
    description: z.string().nullish(),
    created_at: time,
    creator: Person,
  }),
})
const DeploymentStatus = DeploymentEvent.extend({
  deployment_status: z.object({
    state: word,
    target_url: z.string().nullish(),
    environment_url: z.string().nullish(),
    created_at: time,
  }),
})
const ReleaseEvent = z.object({
  repository,
  action: word,
  release: z.object({
    id: z.int(),
    tag_name: word,
    name: z.string().nullish(),
    html_url: z.string(),
    published_at: time.nullish(),
    author: Person,
  }),
})
const PushEvent = z.object({
  repository: repository.extend({ pushed_at: z.union([z.int(), time]).nullish() }),
  ref: word,
  after: word,
  deleted: z.boolean().nullish(),
  head_commit: z.object({ message: z.string(), url: z.string() }).nullish(),
  sender: Person,
})

/** Parses an event of a repository host; throws `invalid` for a payload of another shape. */
export const parseRepositoryEvent = (event: string, payload: unknown): RepositoryEvent => {
  const read = readers.get(event)
  return read
    ? read(payload)
    : { reason: `event "${shortenText(event, 64)}" ignored: charts annotate only deployments, releases and pushes` }
}

const readDeployment = (payload: unknown): RepositoryEvent => {
  const { repository, deployment } = parseRequestInput(DeploymentEvent, payload)
  return { deployment: deploymentOf(repository, deployment) }
}

/** Final states of a deployment; intermediate states are ignored. */
const finalStates: ReadonlySet<string> = new Set(['success', 'failure', 'error'])

const readDeploymentStatus = (payload: unknown): RepositoryEvent => {
  const { repository, deployment, deployment_status: status } = parseRequestInput(DeploymentStatus, payload)
  if (!finalStates.has(status.state))
    return { reason: `deployment status "${shortenText(status.state, 64)}" ignored: the deployment has not ended` }
  const known = deploymentOf(repository, deployment)
  const url = linkOf(status.target_url) ?? linkOf(status.environment_url)
  return { deployment: { ...known, outcome: shortenText(status.state, 200), url, atMs: Date.parse(status.created_at) } }
}

/** Returns the annotation of a deployment. Its events share one id, so the latest event replaces the others. */
const deploymentOf = (
  { id: repositoryId, full_name }: z.infer<typeof repository>,
  { id, sha, ref, environment, description, created_at, creator }: z.infer<typeof DeploymentEvent>['deployment'],
) => {
  const version = versionOf(ref, sha)
  return {
    id: `deployment:${repositoryId}:${id}`,
    kind: 'deployment',
    repository: shortenText(full_name, 200),
    version,
    environment: shortenText(environment, 200),
    outcome: null,
    title: firstLine(description || `${version} to ${environment}`),
    by: creator?.login.slice(0, 200) ?? null,
    url: null,
    atMs: Date.parse(created_at),
  }
}

const readRelease = (payload: unknown): RepositoryEvent => {
  const { repository, action, release } = parseRequestInput(ReleaseEvent, payload)
  if (action !== 'published') return { reason: 'release ignored: only the publication of a release is annotated' }
  return {
    deployment: {
      id: `release:${repository.id}:${release.id}`,
      kind: 'release',
      repository: shortenText(repository.full_name, 200),
      version: shortenText(release.tag_name, 200),
      environment: null,
      outcome: null,
      title: firstLine(release.name || release.tag_name),
      by: release.author?.login.slice(0, 200) ?? null,
      url: linkOf(release.html_url),
      atMs: release.published_at ? Date.parse(release.published_at) : null,
    },
  }
}

const readPush = (payload: unknown): RepositoryEvent => {
  const { repository, ref, after, deleted, head_commit: head, sender } = parseRequestInput(PushEvent, payload)
  const branch = repository.default_branch
  if (ref !== `refs/heads/${branch}`) return { reason: 'push ignored: only pushes to the default branch are annotated' }
  if (deleted || !head) return { reason: 'push ignored: it contains no commit' }
  const { pushed_at: at } = repository
  return {
    deployment: {
      id: `push:${repository.id}:${after.slice(0, 64)}`,
      kind: 'push',
      repository: shortenText(repository.full_name, 200),
      version: versionOf(branch, after),
      environment: null,
      outcome: null,
      title: firstLine(head.message),
      by: sender?.login.slice(0, 200) ?? null,
      url: linkOf(head.url),
      atMs: typeof at === 'number' ? at * 1_000 : at ? Date.parse(at) : null,
    },
  }
}

const readers: ReadonlyMap<string, (payload: unknown) => RepositoryEvent> = new Map([
  // GitHub sends `ping` when the webhook is created.
  ['ping', () => ({ reason: 'ping received: the webhook is configured' })],
  ['deployment', readDeployment],
  ['deployment_status', readDeploymentStatus],
  ['release', readRelease],
  ['push', readPush],
])

const shortCommitLength = 7
const versionOf = (ref: string, sha: string): string => {
  const commit = sha.slice(0, shortCommitLength)
  return ref === sha ? commit : `${shortenText(ref, 180)} ${commit}`
}

const firstLine = (text: string): string => shortenText(text.split('\n')[0] ?? '', 300)

/** Returns the URL if a page may link to it: http or https, at most 2,048 characters; otherwise null. */
const linkOf = (url: string | null | undefined): string | null =>
  url && url.length <= 2_048 && /^https?:\/\//i.test(url) && URL.canParse(url) ? url : null
