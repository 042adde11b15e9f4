import type { Environment } from '#shared/config/environment.ts'
import { openNet } from '#shared/net/net.ts'
import { type Message, messageOf } from '../../messages/message.ts'
import { noticeOf } from '../../delivery/testing/notice.ts'
import type { Notice } from '../../notice.ts'
import type { Channel, SendResult } from '../channel.ts'
import type { Rig } from './rig.ts'
import type { StrictServer } from './strict-server.ts'

/** A message as a channel gets it. */
export const messageFor = (more: Partial<Notice> = {}): Message =>
  messageOf(
    noticeOf(more),
    {
      origin: 'watchhouse-0123456789abcdef',
      instance: 'prod',
      dashboardUrl: 'https://watch.example',
      metadata: { team: 'storage' },
      zone: 'UTC',
      isInteractive: false,
    },
    new Map([['db', { id: 3, name: 'Database' }]]),
  )

interface Sending {
  channel: Channel
  rig: Rig
  server: StrictServer
  message?: Message
  env?: Environment
}

/** One send of a channel to the server of its rig, without the pipeline around it. */
export const sendOnce = async ({
  channel,
  rig,
  server,
  message = messageFor(),
  env = {},
}: Sending): Promise<SendResult> => {
  await using net = openNet({ env: {} })
  const [target] = channel.targets(
    { ...rig.env(server.url), ...env },
    { webhookTargets: [], subscriptions: [], chatApplications: [] },
  )
  if (!target) throw new Error('the channel has no target')
  const led = (url: string | URL) =>
    (rig.standsFor ?? []).reduce((href, origin) => href.replace(origin, server.url), String(url))
  return await target.send(message, (url, outgoing) => net.trusted(led(url), outgoing), net.mail.trusted)
}
