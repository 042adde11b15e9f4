import { AdviceAnswer, AdviceRequest } from '#proto/http/advice.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { postRoute } from '../route.ts'
import { success } from '../response/success.ts'

export const advice = postRoute({
  path: '/api/v1/advice',
  doc: 'What would make one statement cheaper: ranked, with what it would save and what it costs; nothing is changed',
  feature: 'QUERIES',
  // Savings are tried out on the data, with conditions of the caller's own.
  access: 'write',
  limit: 'data',
  query: noQuery,
  body: AdviceRequest,
  answer: AdviceAnswer,
  handle: async ({ body: { hostId, ...asked }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const { recommendations, notes } = await gateway.report.advise({ hostKey: key, ...asked }, call)
    return success(recommendations, { host: name, notes })
  },
})
