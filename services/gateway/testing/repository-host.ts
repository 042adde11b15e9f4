import { createHmac } from 'node:crypto'
import type { ValidRequest } from './valid-requests.ts'

const repository = { id: 7, full_name: 'acme/shop', default_branch: 'main', private: true }
const sha = 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334'
const deployment = {
  id: 1,
  sha,
  ref: 'main',
  environment: 'production',
  description: null,
  created_at: '2026-09-21T14:00:00Z',
  creator: { login: 'grace', id: 9 },
}

/** Events in the format of GitHub. */
export const repositoryEvents = {
  deployment: { action: 'created', repository, deployment },
  ended: (state: string) => ({
    action: 'created',
    repository,
    deployment,
    deployment_status: {
      state,
      target_url: 'https://ci.example/runs/1',
      environment_url: '',
      created_at: '2026-09-21T14:05:00Z',
    },
  }),
  release: (action: string) => ({
    action,
    repository,
    release: {
      id: 3,
      tag_name: 'v1.2.0',
      name: '',
      html_url: 'https://github.example/acme/shop/releases/v1.2.0',
      published_at: '2026-09-21T15:00:00Z',
      author: { login: 'ada' },
    },
  }),
  push: (ref: string, more: object = {}) => ({
    ref,
    before: '0'.repeat(40),
    after: sha,
    deleted: false,
    repository: { ...repository, pushed_at: 1_790_002_800 },
    head_commit: { message: 'Pay twice as fast\n\nUsers do not wait.', url: 'https://github.example/c/1' },
    sender: { login: 'ada' },
    ...more,
  }),
}

interface EventOptions {
  secret: string
  event?: string
  /** Sends the event in a form field, which is the default of GitHub. */
  asForm?: boolean
}

/** Returns an event with the signature of GitHub. */
export const createSignedEvent = (
  payload: object | string,
  { secret, event, asForm = false }: EventOptions,
): ValidRequest => {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const raw = asForm ? new URLSearchParams({ payload: text }).toString() : text
  return {
    url: '/api/webhooks/repository',
    raw,
    headers: {
      'content-type': asForm ? 'application/x-www-form-urlencoded' : 'application/json',
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      ...(event !== undefined && { 'x-github-event': event }),
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`,
    },
  }
}

/** Returns a valid request for every route of deployments. */
export const createRepositoryRequests = (secret: string): Readonly<Record<string, ValidRequest>> => ({
  'POST /api/webhooks/repository': createSignedEvent(repositoryEvents.deployment, { secret, event: 'deployment' }),
  'GET /api/v1/deployments': { url: '/api/v1/deployments?from=1790000000&limit=5' },
})
