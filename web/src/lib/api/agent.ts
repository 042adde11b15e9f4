import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type { AgentRequest } from '#proto/http/agent.ts'
import type { FollowUpsAnswer } from '#proto/http/conversations.ts'
import type { BeginSignInAnswer, ConfigCheckAnswer, ModelsAnswer, ModelSignInAnswer } from '#proto/http/models.ts'
import { requestJson, requestStream } from './request.ts'

const path = '/api/v1/agent'
const pathOf = (id: string): string => `${path}/${encodeURIComponent(id)}`
const signInPath = '/api/v1/agents/sign-in'

export const modelsQuery = () =>
  queryOptions({
    queryKey: ['agent-models'],
    queryFn: async ({ signal }) =>
      (await requestJson<z.infer<typeof ModelsAnswer>>('/api/v1/agents/models', { signal })).data,
    staleTime: 5 * 60_000,
  })

/** Which model gateways have keys, and what to set where none has. */
export const configCheckQuery = () =>
  queryOptions({
    queryKey: ['agent-config-check'],
    queryFn: async ({ signal }) =>
      (await requestJson<z.infer<typeof ConfigCheckAnswer>>('/api/v1/agents/config-check', { signal })).data,
  })

/** Whether whoever looks asks gateway C on an account of their own, or may. */
export const modelSignInQuery = () =>
  queryOptions({
    queryKey: ['agent-sign-in'],
    queryFn: async ({ signal }) => (await requestJson<z.infer<typeof ModelSignInAnswer>>(signInPath, { signal })).data,
  })

/** Where the browser is to go to sign in with gateway C. */
export const beginModelSignIn = async (back: string): Promise<string> =>
  (await requestJson<z.infer<typeof BeginSignInAnswer>>(signInPath, { body: { return: back } })).data.url

export const endModelSignIn = () => requestJson(signInPath, { method: 'DELETE' })

/** Questions that may be asked next. */
export const followUpsQuery = (id: string, messages: number) =>
  queryOptions({
    queryKey: ['follow-ups', id, messages],
    queryFn: async ({ signal }) =>
      (await requestJson<z.infer<typeof FollowUpsAnswer>>(`/api/v1/conversations/${id}/follow-ups`, { signal })).data
        .questions,
    staleTime: Infinity,
    retry: false,
  })

type Asked = Pick<z.input<typeof AgentRequest>, 'id' | 'messages' | 'hostId' | 'model' | 'pageContext'>

/** What somebody looks at while they ask. */
export type SeenPage = NonNullable<Asked['pageContext']>

/** Asks; the answer is an event stream, and its run is named by the header `x-run-id`. */
export const askAgent = (body: Asked, signal: AbortSignal): Promise<Response | null> =>
  requestStream(path, { body, signal })

/** Goes on with an answer after an event, by the id of its run or chat; null when there is none. */
export const resumeAnswer = (id: string, after: number, signal: AbortSignal): Promise<Response | null> =>
  requestStream(`${pathOf(id)}/stream`, { signal, headers: { 'last-event-id': String(after) } })

export const stopAnswer = (id: string) => requestJson(`${pathOf(id)}/stop`, { body: {} })

/** Has what an answer wishes done to a host, or refuses it. */
export const decideApproval = (id: string, approved: boolean) =>
  requestJson(`${path}/approvals/${encodeURIComponent(id)}`, { body: { approved } })

/** Lets a call of an answer send its arguments to an external server, or denies it. */
export const decideEgress = (id: string, approved: boolean) =>
  requestJson(`${path}/egress/${encodeURIComponent(id)}`, { body: { approved } })
