import type { WebhookTarget } from '../../policy.ts'
import { discordFormat } from './discord.ts'
import type { WebhookFormat } from './format.ts'
import { googleChatFormat } from './google-chat.ts'
import { hookshotFormat } from './hookshot.ts'
import { matrixFormat } from './matrix.ts'
import { rawFormat } from './raw.ts'
import { slackFormat } from './slack.ts'
import { teamsFormat } from './teams.ts'

const formats = {
  raw: rawFormat,
  slack: slackFormat,
  matrix: matrixFormat,
  hookshot: hookshotFormat,
  discord: discordFormat,
  teams: teamsFormat,
  googleChat: googleChatFormat,
} as const

/** Formats by address. Others use `raw`, including those of Hookshot, which have no common pattern. */
const formatRules: readonly { host: RegExp; path?: RegExp; format: keyof typeof formats }[] = [
  { host: /^hooks\.slack(-gov)?\.com$/, format: 'slack' },
  { host: /^((ptb|canary)\.)?discord(app)?\.com$/, path: /\/slack\/?$/, format: 'slack' },
  { host: /^((ptb|canary)\.)?discord(app)?\.com$/, path: /^\/api\/(v\d+\/)?webhooks\//, format: 'discord' },
  { host: /\.(logic\.azure\.(com|us|cn)|environment\.api\.powerplatform\.com|webhook\.office\.com)$/, format: 'teams' },
  { host: /^chat\.googleapis\.com$/, format: 'googleChat' },
  { host: /./, path: /\/_matrix\//, format: 'matrix' },
]

/** Returns the configured format, or the one that matches the address. */
export const selectFormat = (configured: WebhookTarget['format'], { hostname, pathname }: URL): WebhookFormat => {
  if (configured !== 'auto') return formats[configured]
  const found = formatRules.find(({ host, path = /./ }) => host.test(hostname) && path.test(pathname))
  return formats[found?.format ?? 'raw']
}
