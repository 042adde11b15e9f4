import type { EventDraft, JsonObject } from './adapter.ts'

/** Returns a draft with the fields that the sender provides; all others are unknown. */
export const createDraft = (
  source: string,
  raw: JsonObject,
  fields: Pick<EventDraft, 'status' | 'title'> & Partial<Omit<EventDraft, 'labels'>> & { labels?: Labels },
): EventDraft => ({
  source,
  raw,
  externalId: null,
  identity: null,
  dedupKey: null,
  severity: null,
  resource: '',
  body: '',
  occurredAt: null,
  endsAt: null,
  url: null,
  ...fields,
  labels: removeEmptyLabels(fields.labels ?? {}),
})

type Labels = Readonly<Record<string, string | number | null | undefined>>

const removeEmptyLabels = (labels: Labels): Record<string, string> =>
  Object.fromEntries(
    Object.entries(labels).flatMap(([name, value]) =>
      value === null || value === undefined || value === '' ? [] : [[name, String(value)]],
    ),
  )
