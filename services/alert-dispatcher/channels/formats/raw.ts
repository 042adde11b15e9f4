import { cut } from '../../delivery/cut.ts'
import { bodyText } from '../../delivery/message.ts'
import type { Format } from './format.ts'

const maxText = 8_000
const maxGathered = 100

/** All that we know, as JSON of our own; `version` grows when a field changes its meaning. */
export const raw: Format = {
  compose: ({ message, write, key }) => {
    const { notice, headline, host, url, instance, metadata, origin } = message
    const { kind, episode, ruleId, source, severity, value, threshold, unit, sinceMs, atMs, reason } = notice
    const { title = headline, body = bodyText(message) } = write((text) => text)
    return {
      headers: { 'x-idempotency-key': key },
      body: {
        version: 1,
        event: kind,
        id: key,
        dedup_key: episode,
        sequence: notice.sequence,
        origin,
        instance,
        host,
        source,
        rule: ruleId,
        severity,
        value,
        threshold,
        unit,
        started_at: new Date(sinceMs).toISOString(),
        at: new Date(atMs).toISOString(),
        reason,
        offenders: notice.offenders,
        gathered: message.gathered.slice(0, maxGathered),
        title,
        text: cut(body, maxText),
        url,
        metadata,
      },
    }
  },
}
