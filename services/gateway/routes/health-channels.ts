import { ChannelTestAnswer, ChannelTestRequest } from '#proto/http/channels.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { postRoute, type Route } from '../route.ts'
import { success } from '../response/success.ts'

const test = postRoute({
  path: '/api/v1/health/channels/{channel}/test',
  doc: 'Sends a test message to the targets of a channel at once, switched on or not, and says how that went',
  feature: 'HEALTH',
  access: 'write',
  limit: 'data',
  query: noQuery,
  body: ChannelTestRequest,
  answer: ChannelTestAnswer,
  handle: async ({ path: { channel }, body, call, requestId }, { alerts, audit }) => {
    const deed = { action: 'test-channel', host: null, target: { channel, ...body } }
    const tested = await audit.of(deed, { call, requestId }, () => alerts.testChannel({ channel, ...body }, call))
    return success(tested, { count: tested.length })
  },
})

/** The ways of telling people. */
export const healthChannelRoutes: readonly Route[] = [test]
