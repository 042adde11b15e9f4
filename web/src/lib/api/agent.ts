import { queryOptions } from '@tanstack/svelte-query'
import { call, callForStream, type RouteBody, type RouteData } from './call.ts'

export const modelsQuery = () =>
  queryOptions({
    queryKey: ['agent-models'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/agents/models', { signal })).data,
    staleTime: 5 * 60_000,
  })

/** Query for the model gateways: whether each has a key, and which variables to set if not. */
export const modelGatewaysQuery = () =>
  queryOptions({
    queryKey: ['agent-config-check'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/agents/config-check', { signal })).data,
  })

/** Query for the AnyRouter sign-in of the user: whether it is available, and whether the user is signed in. */
export const modelSignInQuery = () =>
  queryOptions({
    queryKey: ['agent-sign-in'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/agents/sign-in', { signal })).data,
  })

/** Starts a sign-in to AnyRouter and returns the URL of its sign-in page. `back` is the path to return to. */
export const beginModelSignIn = async (back: string): Promise<string> =>
  (await call('POST /api/v1/agents/sign-in', { body: { return: back } })).data.url

export const signOutOfModelGateway = () => call('DELETE /api/v1/agents/sign-in')

/** Query for suggested follow-up questions. */
export const followUpsQuery = (id: string, messages: number) =>
  queryOptions({
    queryKey: ['follow-ups', id, messages],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v1/conversations/{id}/follow-ups', { path: { id }, signal })).data.questions,
    staleTime: Infinity,
    retry: false,
  })

type QuestionBody = Pick<RouteBody<'POST /api/v1/agent'>, 'id' | 'messages' | 'hostId' | 'model' | 'pageContext'>

/** The page that the user is viewing while they use the agent. */
export type CurrentPage = NonNullable<QuestionBody['pageContext']>

/** Sends a question. The response is an event stream; the header `x-run-id` names its run. */
export const startAnswer = (body: QuestionBody, signal: AbortSignal): Promise<Response | null> =>
  callForStream('POST /api/v1/agent', { body, signal })

/** Resumes the event stream of a run or a chat after event `after`. Resolves to null if no run is active. */
export const resumeAnswer = (id: string, after: number, signal: AbortSignal): Promise<Response | null> =>
  callForStream('GET /api/v1/agent/{id}/stream', { path: { id }, signal, headers: { 'last-event-id': String(after) } })

export const stopAnswer = (id: string) => call('POST /api/v1/agent/{id}/stop', { path: { id }, body: {} })

/** Approves or denies an action that an answer requests. */
export const decideApproval = (id: string, approved: boolean) =>
  call('POST /api/v1/agent/approvals/{id}', { path: { id }, body: { approved } })

/** Approves or denies a tool call that sends its arguments to an external server. */
export const decideEgress = (id: string, approved: boolean) =>
  call('POST /api/v1/agent/egress/{id}', { path: { id }, body: { approved } })

export type ModelSettings = RouteData<'GET /api/v1/agents/settings'>
export type ModelSettingsChange = RouteBody<'PUT /api/v1/agents/settings'>
export type ModelTest = RouteData<'POST /api/v1/agents/settings/test'>

/** Query for the settings of the model gateway. Of the API key, they only show whether it is set. */
export const modelSettingsQuery = () =>
  queryOptions({
    queryKey: ['agent-settings'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/agents/settings', { signal })).data,
    staleTime: 0,
  })

export const saveModelSettings = (body: ModelSettingsChange) => call('PUT /api/v1/agents/settings', { body })

/** Deletes the saved settings, so that variables and defaults apply again. */
export const resetModelSettings = () => call('DELETE /api/v1/agents/settings')

/** Sends a short request to the model with changed settings, without saving them. */
export const testModelSettings = async (body: ModelSettingsChange): Promise<ModelTest> =>
  (await call('POST /api/v1/agents/settings/test', { body })).data
