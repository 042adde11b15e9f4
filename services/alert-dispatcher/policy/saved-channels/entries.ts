import { z } from 'zod'
import { ChannelSettings } from '#proto/alert-policy.ts'
import { targetFields, type WebhookTargetInput } from '#proto/webhook-targets.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { unseal, seal } from '#shared/seal/seal.ts'
import type { WebhookTarget } from '../../policy.ts'

/** A stored webhook with encrypted URL and headers. */
export const TargetEntry = z.object({
  ...targetFields,
  sealed: z.object({ url: z.string(), headers: z.string().optional() }),
  /** Whether the URL was entered on this machine, so that it may be private. */
  isLocal: z.boolean().optional(),
})
export type TargetEntry = z.infer<typeof TargetEntry>

/** Returns the associated data of the encryption, which binds a secret to its target. */
const buildTargetAssociatedData = (id: string, part: 'url' | 'headers'): string =>
  JSON.stringify(['alert-webhook', id, part])

/** Returns the stored form of a target; undefined if it has no URL. Omitted secrets keep their saved values. */
export const buildTargetEntry = (
  { id, url, headers, ...fields }: WebhookTargetInput,
  before: TargetEntry | undefined,
  { key, isCallerLocal }: { key: RotatingKey; isCallerLocal: boolean },
): TargetEntry | undefined => {
  const address = url === undefined ? before?.sealed.url : seal(url, buildTargetAssociatedData(id, 'url'), key)
  if (address === undefined) return undefined
  const sealed = headers && seal(JSON.stringify(headers), buildTargetAssociatedData(id, 'headers'), key)
  const storedHeaders = headers === undefined ? before?.sealed.headers : (sealed ?? undefined)
  const isLocal = url === undefined ? before?.isLocal : isCallerLocal
  return {
    ...fields,
    sealed: { url: address, ...(storedHeaders !== undefined && { headers: storedHeaders }) },
    ...(isLocal && { isLocal }),
  }
}

/** Decrypts a target; undefined if the current key cannot decrypt it. */
export const decryptTarget = (
  id: string,
  { sealed, isLocal, ...fields }: TargetEntry,
  key: RotatingKey | undefined,
): WebhookTarget | undefined => {
  if (!key) return undefined
  const url = unseal(sealed.url, buildTargetAssociatedData(id, 'url'), key)
  const headers =
    sealed.headers === undefined ? '{}' : unseal(sealed.headers, buildTargetAssociatedData(id, 'headers'), key)
  return url === undefined || headers === undefined ? undefined : { ...fields, saved: { id, url, headers, isLocal } }
}

const Texts = z.record(z.string(), z.string()).default({})

/** A stored channel: values by variable, secrets encrypted. */
export const ChannelEntry = ChannelSettings.extend({
  variables: Texts,
  sealed: Texts,
  /** Whether its addresses were entered on this machine, so that they may be private. */
  isLocal: z.boolean().optional(),
})
export type ChannelEntry = z.infer<typeof ChannelEntry>

/** Returns the associated data of the encryption, which binds a secret to its channel and variable. */
const buildChannelAssociatedData = (channel: string, variable: string): string =>
  JSON.stringify(['alert-channel', channel, variable])

/** Encrypts the value of a channel variable. */
export const encryptChannelValue = (text: string, channel: string, variable: string, key: RotatingKey): string =>
  seal(text, buildChannelAssociatedData(channel, variable), key)

/** Returns the values of an entry, and the variables whose secrets the current key cannot decrypt. */
export const decryptChannelEntry = (
  channel: string,
  { variables, sealed }: Pick<ChannelEntry, 'variables' | 'sealed'>,
  key: RotatingKey | undefined,
): { texts: Record<string, string>; unread: string[] } => {
  const texts: Record<string, string> = { ...variables }
  const unread: string[] = []
  for (const [variable, secret] of Object.entries(sealed)) {
    const text = key && unseal(secret, buildChannelAssociatedData(channel, variable), key)
    if (text === undefined) unread.push(variable)
    else texts[variable] = text
  }
  return { texts, unread }
}
