import type { alerts } from '#proto/alerts.ts'
import type { Client, Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { openTransit } from '#shared/seal/transit.ts'
import type { Context } from '#shared/service.ts'
import type { Alerting, AlertingHandlers } from './alerting.ts'
import { pagingServices } from './channels/paging-services.ts'
import { chatApplicationHandlers } from './chat-application/handlers.ts'
import type { ChatApplication } from './chat-application/open.ts'
import { alertChecks } from './conditions/alert-checks.ts'
import { alertState, firing } from './conditions/alert-state.ts'
import { silence, silences, unsilence } from './conditions/silences.ts'
import { testCustomRule } from './conditions/test-custom-rule.ts'
import type { Delivery } from './delivery/open.ts'
import { previewTarget } from './delivery/preview-target.ts'
import { testChannel } from './delivery/test-channel.ts'
import { inboundConditions } from './events/inbound-conditions.ts'
import { alertPolicy } from './policy/alert-policy.ts'
import type { PolicyBook } from './policy/open-policy.ts'
import { settle, unsettle } from './policy/settle.ts'
import { alertHistory } from './stores/alert-history.ts'
import { prune } from './prune.ts'
import type { Stores } from './stores/stores.ts'
import { subscriptionHandlers } from './subscriptions/handlers.ts'
import type { Subscriptions } from './subscriptions/open.ts'
import type { Schedule } from './sweeps/schedule.ts'
import { sweep } from './sweeps/sweep-now.ts'

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

/** What people are told of alerts, and what they settle. */
const alertingHandlers = (alerting: Alerting): AlertingHandlers => ({
  alertState: alertState(alerting),
  alertChecks: alertChecks(alerting),
  alertHistory: alertHistory(alerting),
  silences: silences(alerting),
  silence: silence(alerting),
  unsilence: unsilence(alerting),
  alertPolicy: alertPolicy(alerting),
  settle: settle(alerting),
  alertSecretsKey: () => alerting.transit.publicKey(),
  unsettle: unsettle(alerting),
  testCustomRule: testCustomRule(alerting),
})
