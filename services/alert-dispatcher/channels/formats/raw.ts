import { cut } from '../../messages/text.ts'
import { bodyText } from '../../messages/message.ts'
import type { Notice } from '../../notice.ts'
import type { Format } from './format.ts'

const maxText = 8_000
const maxGathered = 100

/** All that we know, as JSON of our own; `version` grows when a field changes its meaning. */
export const raw: Format = {
  compose: ({ message, write, key }) => {
    const { notice, headline, host, url, instance, metadata, origin, members } = message
    const { kind, episode, ruleId, source, severity, value, threshold, unit, sinceMs, atMs, reason } = notice
    const { title = headline, body = bodyText(message) } = write((text) => text)
    return {
      headers: { 'x-idempotency-key': key },
      body: {
        version: 1,
        // A group is no fire of its own: each of its conditions is in `conditions`, with the key under which it ends.
        event: members.length > 0 ? 'group' : kind,
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
        ...(members.length > 0 && { conditions: members.map(conditionOf) }),
        title,
        text: cut(body, maxText),
        url,
        metadata,
      },
    }
  },
}

const conditionOf = (notice: Notice) => {
  const { kind, episode, sequence, hostKey, source, ruleId, title, severity, value, threshold, unit, sinceMs, atMs } =
    notice
  return {
    event: kind,
    dedup_key: episode,
    sequence,
    host_key: hostKey,
    source,
    rule: ruleId,
    title,
    severity,
    value,
    threshold,
    unit,
    started_at: new Date(sinceMs).toISOString(),
    at: new Date(atMs).toISOString(),
  }
}
