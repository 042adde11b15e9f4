import type { Registry } from 'prom-client'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { DeliveryDeps } from './delivery-deps.ts'

type Outcome = Parameters<DeliveryDeps['observe']>[1]

const outcomes: Readonly<Record<Outcome, true>> = { ok: true, retry: true, permanent: true, config: true }

/** The metric of send durations, by channel and outcome. */
export interface SendDurations {
  /**
   * Exports all outcomes of these channels, with zero sends at first. Prometheus does not count the first increment of a
   * series that it has not seen before, so an alert would miss the first failed send of a channel.
   */
  include(channels: readonly string[]): void
  observe: DeliveryDeps['observe']
}

/** Creates the metric of send durations in a registry. */
export const openSendDurations = (registry: Registry): SendDurations => {
  const durations = metrics.alertSendDuration(registry)
  const included = new Set<string>()
  return {
    include(channels) {
      for (const channel of channels) {
        if (included.has(channel)) continue
        included.add(channel)
        for (const outcome of Object.keys(outcomes)) durations.zero({ channel, outcome })
      }
    },
    observe: (channel, outcome, seconds) => durations.observe({ channel, outcome }, seconds),
  }
}
