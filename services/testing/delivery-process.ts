import type { ServiceClient } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import { openStateDatabase } from '#shared/store/sql/state-database.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import type { Channel, TargetLimits } from '../alert-dispatcher/channels/channel.ts'
import { webhookChannel } from '../alert-dispatcher/channels/webhook.ts'
import { webhookTargetsChannel } from '../alert-dispatcher/channels/webhook-targets.ts'
import { openDelivery } from '../alert-dispatcher/delivery/open-delivery.ts'
import { defaultRetryPlan } from '../alert-dispatcher/delivery/retry.ts'
import { testPolicy } from '../alert-dispatcher/testing/simulated-host.ts'

/**
 * Delivers notifications until this process is killed. The argument is the instance name. The environment
 * sets Redis, the state database, the webhook, further webhooks, and `TEST_CHANNELS`, the number of channels that send
 * to the webhook. `TEST_LIMITS` sets their rate limits. Retry intervals are short, so that another process soon takes
 * over the messages of a killed one.
 */
const [instance = ''] = process.argv.slice(2)
// A copy, because reading `process.env` for each message takes longer than sending it.
const env = { ...process.env }
const facts = { instance, version: 'test', services: ['alert-dispatcher'], secretNames: [] }
const telemetry = await openTelemetry({ ...env, LOG_LEVEL: 'error' }, facts, process.stderr)
const { log } = telemetry.of('alert-dispatcher')
const hostsOnly: Partial<ServiceClient<typeof query>> = { hosts: async () => [] }

const limitsOfWebhook = env.TEST_LIMITS
  ? (JSON.parse(env.TEST_LIMITS) as TargetLimits)
  : { concurrency: 4, perSecond: 10_000, burst: 10_000 }

await openDelivery({
  env,
  store: await openStore({ env, busIsShared: true }),
  net: openNet({ env }),
  telemetry: telemetry.of('alert-dispatcher'),
  // Delivery calls only the method `hosts`.
  query: hostsOnly as ServiceClient<typeof query>,
  database: await openStateDatabase(env, log),
  policy: async () => testPolicy,
  channels: Array.from({ length: Number(env.TEST_CHANNELS) }, (_, number): Channel => ({
    ...webhookChannel,
    id: `webhook-${number}`,
    limits: limitsOfWebhook,
    targets: (given, policy) =>
      webhookChannel.targets(
        { ...given, HEALTH_ALERT_WEBHOOK_URL: `${given.HEALTH_ALERT_WEBHOOK_URL}/${number}` },
        policy,
      ),
  })).concat(webhookTargetsChannel),
  retry: {
    waitsMs: [50, 100],
    jitter: 0.2,
    maxRestMs: 1_000,
    maxWaitMs: 1_000,
    // The default message lifetime, so that no message expires on a slow machine.
    lifeMs: defaultRetryPlan.lifeMs,
    holdMs: Number(env.TEST_HOLD_MS ?? defaultRetryPlan.holdMs),
    recordAgainMs: 500,
  },
  claims: { atOnce: 20, claimMs: 1_000 },
})
process.stdout.write('delivering\n')
