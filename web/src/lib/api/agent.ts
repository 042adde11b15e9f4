import { queryOptions } from '@tanstack/svelte-query'
import { call, callForStream, type Body } from './call.ts'

export const modelsQuery = () =>
  queryOptions({
    queryKey: ['agent-models'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/agents/models', { signal })).data,
    staleTime: 5 * 60_000,
  })

/** Which model gateways have keys, and what to set where none has. */
export const configCheckQuery = () =>
  queryOptions({
    queryKey: ['agent-config-check'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/agents/config-check', { signal })).data,
  })

/** Whether whoever looks asks gateway C on an account of their own, or may. */
export const modelSignInQuery = () =>
  queryOptions({
    queryKey: ['agent-sign-in'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/agents/sign-in', { signal })).data,
  })

/** Where the browser is to go to sign in with gateway C. */
export const beginModelSignIn = async (back: string): Promise<string> =>
  (await call('POST /api/v1/agents/sign-in', { body: { return: back } })).data.url

export const endModelSignIn = () => call('DELETE /api/v1/agents/sign-in')

/** Questions that may be asked next. */
export const followUpsQuery = (id: string, messages: number) =>
  queryOptions({
    queryKey: ['follow-ups', id, messages],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v1/conversations/{id}/follow-ups', { path: { id }, signal })).data.questions,
    staleTime: Infinity,
    retry: false,
  })

type Asked = Pick<Body<'POST /api/v1/agent'>, 'id' | 'messages' | 'hostId' | 'model' | 'pageContext'>

/** What somebody looks at while they ask. */
export type SeenPage = NonNullable<Asked['pageContext']>

/** Asks; the answer is an event stream, and its run is named by the header `x-run-id`. */
export const askAgent = (body: Asked, signal: AbortSignal): Promise<Response | null> =>
  callForStream('POST /api/v1/agent', { body, signal })

/** Goes on with an answer after an event, by the id of its run or chat; null when there is none. */
export const resumeAnswer = (id: string, after: number, signal: AbortSignal): Promise<Response | null> =>
  callForStream('GET /api/v1/agent/{id}/stream', { path: { id }, signal, headers: { 'last-event-id': String(after) } })

export const stopAnswer = (id: string) => call('POST /api/v1/agent/{id}/stop', { path: { id }, body: {} })

/** Has what an answer wishes done to a host, or refuses it. */
export const decideApproval = (id: string, approved: boolean) =>
  call('POST /api/v1/agent/approvals/{id}', { path: { id }, body: { approved } })

/** Lets a call of an answer send its arguments to an external server, or denies it. */
export const decideEgress = (id: string, approved: boolean) =>
  call('POST /api/v1/agent/egress/{id}', { path: { id }, body: { approved } })
