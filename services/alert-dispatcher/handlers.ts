import type { alerts } from '#proto/alerts.ts'
import type { ServiceClient, ServiceHandlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { openTransitKeyPair } from '#shared/seal/transit.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import type { AlertingDeps, AlertingHandlers } from './alerting.ts'
import { createPagingServicesHandler } from './channels/paging-services.ts'
import { createChatApplicationHandlers } from './chat-application/handlers.ts'
import type { ChatApplication } from './chat-application/open-chat-application.ts'
import {
  createAlertChecksHandler,
  createAlertStateHandler,
  createFiringHandlers,
  createSilenceHandler,
  createSilencesHandler,
  createUnsilenceHandler,
} from './conditions/handlers.ts'
import { createTestCustomRuleHandler, createTestSqlRuleHandler } from './conditions/test-rule.ts'
import type { Delivery } from './delivery/open-delivery.ts'
import { createPreviewTargetHandler } from './delivery/preview-target.ts'
import { deliverySettings } from './delivery/settings.ts'
import { createTestChannelHandler } from './delivery/test-channel.ts'
import { createInboundConditionHandlers } from './events/inbound-conditions.ts'
import {
  createAlertPolicyHandler,
  createDeleteAlertConfigHandler,
  createUpdateAlertConfigHandler,
} from './policy/alert-config.ts'
import { policySettings } from './policy/layers/environment.ts'
import type { PolicyProvider } from './policy/open-policy.ts'
import type { DispatcherStores } from './stores/stores.ts'
import { createSubscriptionHandlers } from './subscriptions/handlers.ts'
import type { Subscriptions } from './subscriptions/open-subscriptions.ts'
import { type SweepSchedule, createSweepHandler } from './sweeps/schedule.ts'

interface HandlerDeps extends ServiceContext {
  query: ServiceClient<typeof query>
  stores: DispatcherStores
  policy: PolicyProvider
  delivery: Delivery
  schedule: SweepSchedule
  subscriptions: Subscriptions
  chatApplication: ChatApplication
}

/** Returns the bus handlers of the dispatcher. */
export const createDispatcherHandlers = (deps: HandlerDeps): ServiceHandlers<typeof alerts> => {
  const withPolicy = { ...deps, policy: deps.policy.current }
  const transit = openTransitKeyPair(deps.store, 'alert-dispatcher:transit-key')
  return {
    ...createFiringHandlers(deps.store),
    sweep: createSweepHandler(deps.schedule, deps.policy.current),
    ...deps.delivery.handlers,
    ...createTestChannelHandler({ ...withPolicy, transit }),
    ...createPagingServicesHandler(withPolicy),
    ...createPreviewTargetHandler({ ...deps, transit }),
    ...alertingHandlers({ ...deps, transit }),
    ...createInboundConditionHandlers(deps),
    ...createSubscriptionHandlers({ ...deps, transit }),
    ...createChatApplicationHandlers(deps),
    prune: prune(deps),
  }
}

/** Returns the handlers for alert state, silences and alert configuration. */
const alertingHandlers = (alerting: AlertingDeps): AlertingHandlers => ({
  alertState: createAlertStateHandler(alerting),
  alertChecks: createAlertChecksHandler(alerting),
  alertHistory: (filter) => alerting.stores.history.list(filter),
  silences: createSilencesHandler(alerting),
  silence: createSilenceHandler(alerting),
  unsilence: createUnsilenceHandler(alerting),
  alertPolicy: createAlertPolicyHandler(alerting),
  updateAlertConfig: createUpdateAlertConfigHandler(alerting),
  alertSecretsKey: () => alerting.transit.publicKey(),
  deleteAlertConfig: createDeleteAlertConfigHandler(alerting),
  testCustomRule: createTestCustomRuleHandler(alerting),
  testSqlRule: createTestSqlRuleHandler(alerting),
})

const dayMs = 86_400_000

interface PruneDeps {
  stores: DispatcherStores
  delivery: Pick<Delivery, 'prune'>
  env: Environment
  clock: Clock
}

/** Deletes history, silences and delivery records that are older than their retention. */
const prune =
  ({ stores, delivery, env, clock }: PruneDeps): ServiceHandlers<typeof alerts>['prune'] =>
  async () => {
    const beforeMs = clock.now() - parseSettings(policySettings, env).SVC_ALERT_HISTORY_DAYS * dayMs
    const { history, episodes, eventEpisodes, silences } = stores
    return {
      removed: {
        history: await history.prune(beforeMs),
        episodes: (await episodes.prune(beforeMs)) + (await eventEpisodes.prune(beforeMs)),
        silences: await silences.prune(beforeMs),
        deliveries: await delivery.prune(
          clock.now() - parseSettings(deliverySettings, env).SVC_ALERT_DELIVERIES_DAYS * dayMs,
        ),
      },
    }
  }
