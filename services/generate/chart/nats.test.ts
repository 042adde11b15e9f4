import { connect } from 'nats'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { describeWith, startNats } from '../../testing/describe-with.ts'
import { buildDeclaredNatsAccounts, createNatsChartValues } from './nats.ts'

const Values = z.object({ config: z.object({ merge: z.record(z.string(), z.unknown()) }) })

/** Renders `config.merge` like the official chart, which inserts text between `<<` and `>>` verbatim. */
const configurationOf = (values: object): string =>
  Object.entries(Values.parse(values).config.merge)
    .map(([name, value]) => `${name}: ${JSON.stringify(value).replaceAll(/"<< (.+?) >>"/g, '$1')}`)
    .join('\n')

describeWith(['nats'], 'a NATS server with the values for the official chart', () => {
  it('authenticates each user with the password of its variable and lets it subscribe only to its own inbox', async () => {
    const declared = await buildDeclaredNatsAccounts()
    const names = Object.keys(declared.users)
    const environment = Object.fromEntries(
      names.map((name) => [`NATS_PASSWORD_${name.replaceAll('-', '_').toUpperCase()}`, `of-${name}`]),
    )
    await using server = await startNats({ config: configurationOf(createNatsChartValues(declared)), environment })
    const servers = new URL(server.url).host
    for (const user of names) {
      const connection = await connect({ servers, user, pass: `of-${user}`, inboxPrefix: `_INBOX.${user}` })
      const refused = Promise.withResolvers<unknown>()
      connection.subscribe('_INBOX.another.>', { callback: (error) => refused.resolve(error) })
      expect(String(await refused.promise)).toMatch(/permissions violation/i)
      await connection.close()
    }
    await expect(connect({ servers, user: 'query', pass: 'of-report' })).rejects.toThrow(/authorization/i)
  })
})
