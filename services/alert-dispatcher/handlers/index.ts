import type { alerts } from '#proto/alerts.ts'
import type { Client, Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { openTransit } from '#shared/seal/transit.ts'
import type { Context } from '#shared/service.ts'
import { chatApplicationHandlers } from '../chat-application/handlers.ts'
import type { ChatApplication } from '../chat-application/open.ts'
import type { Delivery } from '../delivery/open.ts'
import type { PolicyBook } from '../policy/open-policy.ts'
import type { Schedule } from '../sweeps/schedule.ts'
import type { Stores } from '../stores/stores.ts'
import { subscriptionHandlers } from '../subscriptions/handlers.ts'
import type { Subscriptions } from '../subscriptions/open.ts'
import { alertingHandlers } from './alerting.ts'
import { firing } from './firing.ts'
import { inboundConditions } from './inbound-conditions.ts'
import { pagingServices } from './paging-services.ts'
import { previewTarget } from './preview-target.ts'
import { prune } from './prune.ts'
import { sweep } from './sweep.ts'
import { testChannel } from './test-channel.ts'

interface Answering extends Context {
  query: Client<typeof query>
  stores: Stores
  policy: PolicyBook
  delivery: Delivery
  schedule: Schedule
  subscriptions: Subscriptions
  chatApplication: ChatApplication
}

/** All that the dispatcher answers on the bus. */
export const handlers = (answering: Answering): Handlers<typeof alerts> => {
  const settled = { ...answering, policy: answering.policy.current }
  const transit = openTransit(answering.store, 'alert-dispatcher:transit-key')
  return {
    ...firing(answering.store),
    sweep: sweep(answering.schedule, answering.env),
    ...answering.delivery.handlers,
    ...testChannel(settled),
    ...pagingServices(settled),
    ...previewTarget({ ...answering, transit }),
    ...alertingHandlers({ ...answering, transit }),
    ...inboundConditions(answering),
    ...subscriptionHandlers({ ...answering, transit }),
    ...chatApplicationHandlers(answering),
    prune: prune(answering),
  }
}
