import { z } from 'zod'
import { ChannelSettings } from '#proto/alert-policy.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { open, seal } from '#shared/seal/seal.ts'

const Texts = z.record(z.string(), z.string()).default({})

/** A channel as the database has it: texts by variable, those that are secret encrypted. */
export const ChannelEntry = ChannelSettings.extend({ variables: Texts, sealed: Texts })
export type ChannelEntry = z.infer<typeof ChannelEntry>

/** What a secret is bound to: it opens for no other channel or variable. */
const aboutOf = (channel: string, variable: string): string => JSON.stringify(['alert-channel', channel, variable])

export const sealText = (text: string, channel: string, variable: string, key: RotatingKey): string =>
  seal(text, aboutOf(channel, variable), key)

/** The texts of an entry, and the variables whose secrets the present key does not open. */
export const openEntry = (
  channel: string,
  { variables, sealed }: Pick<ChannelEntry, 'variables' | 'sealed'>,
  key: RotatingKey | undefined,
): { texts: Record<string, string>; unread: string[] } => {
  const texts: Record<string, string> = { ...variables }
  const unread: string[] = []
  for (const [variable, secret] of Object.entries(sealed)) {
    const text = key && open(secret, aboutOf(channel, variable), key)
    if (text === undefined) unread.push(variable)
    else texts[variable] = text
  }
  return { texts, unread }
}
