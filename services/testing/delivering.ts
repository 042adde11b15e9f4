import type { Client } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import { openStateDatabase } from '#shared/store/sql/state-database.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import type { Channel, TargetLimits } from '../alert-dispatcher/channels/channel.ts'
import { webhook } from '../alert-dispatcher/channels/webhook.ts'
import { webhookTargets } from '../alert-dispatcher/channels/webhook-targets.ts'
import { openDelivery } from '../alert-dispatcher/delivery/open.ts'
import { defaultRetryPlan } from '../alert-dispatcher/delivery/retry.ts'
import { plainPolicy } from '../alert-dispatcher/testing/story.ts'

/**
 * A process that delivers until it is killed: `node delivering.ts <instance>`, with `REDIS_URL`, the state database if any,
 * the webhook and how many channels with which limits lead to it, and further webhooks, in its environment. Its waits are short, so that what a kill leaves behind is taken up soon.
 */
const [instance = ''] = process.argv.slice(2)
// Copied, because reading `process.env` for each message takes longer than sending it.
const env = { ...process.env }
const facts = { instance, version: 'test', services: ['alert-dispatcher'], secretNames: [] }
const telemetry = await openTelemetry({ ...env, LOG_LEVEL: 'error' }, facts, process.stderr)
const { log } = telemetry.of('alert-dispatcher')
const hostsOnly: Partial<Client<typeof query>> = { hosts: async () => [] }

const limitsOfWebhook = env.TEST_LIMITS
  ? (JSON.parse(env.TEST_LIMITS) as TargetLimits)
  : { concurrency: 4, perSecond: 10_000, burst: 10_000 }

await openDelivery({
  env,
  store: await openStore({ env, busIsShared: true }),
  net: openNet({ env }),
  telemetry: telemetry.of('alert-dispatcher'),
  // Delivery calls only the host list.
  query: hostsOnly as Client<typeof query>,
  database: await openStateDatabase(env, log),
  policy: async () => plainPolicy,
  channels: Array.from({ length: Number(env.TEST_CHANNELS) }, (_, number): Channel => ({
    ...webhook,
    id: `webhook-${number}`,
    limits: limitsOfWebhook,
    targets: (given, policy) =>
      webhook.targets({ ...given, HEALTH_ALERT_WEBHOOK_URL: `${given.HEALTH_ALERT_WEBHOOK_URL}/${number}` }, policy),
  })).concat(webhookTargets),
  retry: {
    waitsMs: [50, 100],
    jitter: 0.2,
    maxRestMs: 1_000,
    maxWaitMs: 1_000,
    // The lifetime of the product, so that a slow machine does not drop unsent messages.
    lifeMs: defaultRetryPlan.lifeMs,
    holdMs: Number(env.TEST_HOLD_MS ?? defaultRetryPlan.holdMs),
    recordAgainMs: 500,
  },
  claims: { atOnce: 20, claimMs: 1_000 },
})
process.stdout.write('delivering\n')
