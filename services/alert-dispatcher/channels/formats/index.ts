import type { WebhookTarget } from '../../policy.ts'
import { discord } from './discord.ts'
import type { Format } from './format.ts'
import { googleChat } from './google-chat.ts'
import { hookshot } from './hookshot.ts'
import { matrix } from './matrix.ts'
import { raw } from './raw.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'

const formats = { raw, slack, matrix, hookshot, discord, teams, googleChat } as const

/** Formats by address; all other addresses get `raw`. Addresses of Hookshot have no common pattern. */
const known: readonly { host: RegExp; path?: RegExp; format: keyof typeof formats }[] = [
  { host: /^hooks\.slack(-gov)?\.com$/, format: 'slack' },
  { host: /^((ptb|canary)\.)?discord(app)?\.com$/, path: /\/slack\/?$/, format: 'slack' },
  { host: /^((ptb|canary)\.)?discord(app)?\.com$/, path: /^\/api\/(v\d+\/)?webhooks\//, format: 'discord' },
  { host: /\.(logic\.azure\.(com|us|cn)|environment\.api\.powerplatform\.com|webhook\.office\.com)$/, format: 'teams' },
  { host: /^chat\.googleapis\.com$/, format: 'googleChat' },
  { host: /./, path: /\/_matrix\//, format: 'matrix' },
]

/** Returns the configured format, or the one that matches the address. */
export const selectFormat = (configured: WebhookTarget['format'], { hostname, pathname }: URL): Format => {
  if (configured !== 'auto') return formats[configured]
  const found = known.find(({ host, path = /./ }) => host.test(hostname) && path.test(pathname))
  return formats[found?.format ?? 'raw']
}
