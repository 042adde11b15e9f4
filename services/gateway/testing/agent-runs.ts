import type { agent } from '#proto/agent.ts'
import type { Handlers } from '#proto/contract.ts'
import type { GoodRequest } from './auth-requests.ts'

/** The one run that there is, and the one wish of it. */
export const fakeRunId = `agent.${'r'.repeat(22)}`
export const fakeApprovalId = `${fakeRunId}.1`

const told = ['{"type":"start","messageId":"m"}', '{"type":"finish","finishReason":"stop"}', '[DONE]']

type Runs = Pick<Handlers<typeof agent>, 'start' | 'read' | 'stop' | 'takeApproval' | 'settleApproval' | 'decideEgress'>

/** Answers every question with a beginning and an end, and wishes to kill a query. */
export const fakeRuns: Runs = {
  start: async () => ({ runId: fakeRunId }),
  read: async ({ after }) => ({
    events: told
      .map((data, index) => `id: ${index + 1}\ndata: ${data}\n\n`)
      .slice(after)
      .join(''),
    last: told.length,
    ended: true,
  }),
  stop: async () => ({ stopped: true }),
  takeApproval: async () => ({ tool: 'kill_query', hostKey: 'analytics', input: { queryId: 'runaway' } }),
  settleApproval: async () => ({}),
  decideEgress: async () => ({}),
}

/** A good request for each of their routes. */
export const agentRequests: Record<string, GoodRequest> = {
  'POST /api/v1/agent': { url: '/api/v1/agent', body: { message: 'Is it well?', hostId: 1 } },
  'GET /api/v1/agent/{id}/stream': { url: `/api/v1/agent/${fakeRunId}/stream` },
  'POST /api/v1/agent/{id}/stop': { url: `/api/v1/agent/${fakeRunId}/stop`, body: {} },
  'POST /api/v1/agent/approvals/{id}': {
    url: `/api/v1/agent/approvals/${fakeApprovalId}`,
    body: { approved: true },
  },
  'POST /api/v1/agent/egress/{id}': {
    url: `/api/v1/agent/egress/${fakeApprovalId}`,
    body: { approved: true },
  },
}
