import { z } from 'zod'
import { ApprovalId } from '#proto/agent.ts'
import { ApprovalRequest, EgressAnswer } from '#proto/http/agent.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { parse } from '../request/parse.ts'
import { success } from '../response/success.ts'
import { postRoute } from '../route.ts'

const EgressPath = z.object({ id: ApprovalId })

/** Nothing of a host changes, so whoever may ask the agent may decide. */
export const decideEgress = postRoute({
  path: '/api/v1/agent/egress/{id}',
  doc: 'Approves or denies a call of an answer that sends its arguments to an external server; 403 for API keys',
  feature: 'AGENT',
  access: 'write',
  guests: true,
  limit: 'data',
  query: noQuery,
  body: ApprovalRequest,
  answer: EgressAnswer,
  handle: async ({ path, body: { approved }, call }, { agent }) => {
    const { id: approvalId } = parse(EgressPath, path)
    await agent.decideEgress({ approvalId, approved }, call)
    return success(null, { approved })
  },
})
