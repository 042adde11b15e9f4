import type { alerts } from '#proto/alerts.ts'
import type { Client, Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { openTransit } from '#shared/seal/transit.ts'
import type { Context } from '#shared/lifecycle/service.ts'
import type { Alerting, AlertingHandlers } from './alerting.ts'
import { pagingServices } from './channels/paging-services.ts'
import { chatApplicationHandlers } from './chat-application/handlers.ts'
import type { ChatApplication } from './chat-application/open.ts'
import { alertChecks, alertState, firing, silence, silences, unsilence, testCustomRule } from './conditions/handlers.ts'
import type { Delivery } from './delivery/open.ts'
import { previewTarget } from './delivery/preview-target.ts'
import { deliverySettings } from './delivery/settings.ts'
import { testChannel } from './delivery/test-channel.ts'
import { inboundConditions } from './events/inbound-conditions.ts'
import { alertPolicy, settle, unsettle } from './policy/alert-config.ts'
import { policySettings } from './policy/layers/environment.ts'
import type { PolicyBook } from './policy/open-policy.ts'
import type { Stores } from './stores/stores.ts'
import { subscriptionHandlers } from './subscriptions/handlers.ts'
import type { Subscriptions } from './subscriptions/open.ts'
import { type Schedule, sweepHandler } from './sweeps/schedule.ts'

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
    sweep: sweepHandler(answering.schedule, answering.env),
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
  alertHistory: (filter) => alerting.stores.history.list(filter),
  silences: silences(alerting),
  silence: silence(alerting),
  unsilence: unsilence(alerting),
  alertPolicy: alertPolicy(alerting),
  settle: settle(alerting),
  alertSecretsKey: () => alerting.transit.publicKey(),
  unsettle: unsettle(alerting),
  testCustomRule: testCustomRule(alerting),
})

const dayMs = 86_400_000

interface Kept {
  stores: Stores
  delivery: Pick<Delivery, 'prune'>
  env: Environment
  clock: Clock
}

/** Removes what was told and settled longer ago than the settings say. */
const prune =
  ({ stores, delivery, env, clock }: Kept): Handlers<typeof alerts>['prune'] =>
  async () => {
    const beforeMs = clock.now() - read(policySettings, env).SVC_ALERT_HISTORY_DAYS * dayMs
    const { history, episodes, eventEpisodes, silences } = stores
    return {
      removed: {
        history: await history.prune(beforeMs),
        episodes: (await episodes.prune(beforeMs)) + (await eventEpisodes.prune(beforeMs)),
        silences: await silences.prune(beforeMs),
        deliveries: await delivery.prune(clock.now() - read(deliverySettings, env).SVC_ALERT_DELIVERIES_DAYS * dayMs),
      },
    }
  }
