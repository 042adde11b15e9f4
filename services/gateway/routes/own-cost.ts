import { OwnCostAnswer, OwnCostQuery } from '#proto/http/own-cost.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'

export const ownCost = getRoute({
  path: '/api/v1/own-cost',
  doc: "What the product's own statements cost one host",
  feature: 'QUERIES',
  access: 'read',
  limit: 'data',
  query: OwnCostQuery,
  answer: OwnCostAnswer,
  handle: async ({ query: { hostId, ...asked }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const { cost, ...metadata } = await gateway.query.ownCost({ hostKey: key, ...asked }, call)
    return success(cost, { host: name, ...metadata })
  },
})
