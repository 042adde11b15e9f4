import { describe, expect, it } from 'vitest'
import { NetFailure } from './failure.ts'
import { openAddressGuard } from './guard.ts'

/** Returns the rule that rejects a URL whose name resolves to these addresses; `allowed` if none does. */
const ruleFor = async (url: string, answers: readonly string[], env = {}): Promise<string | undefined> => {
  const guard = openAddressGuard(env, { resolve: async () => answers })
  try {
    await guard.addresses(guard.readUrl(url, 'notification').hostname)
    return 'allowed'
  } catch (error) {
    if (error instanceof NetFailure) return error.rule
    throw error
  }
}

const publicAnswer = ['93.184.215.14']

describe('a name that is valid only inside a network', () => {
  it.each(['db.localdomain', 'wiki.corp', 'nas.lan', 'router.home', 'hr.intranet', 'vault.private', 'x.INTERNAL.'])(
    '%s is refused before anybody answers for it, unless private hosts are allowed',
    async (name) => {
      expect(await ruleFor(`http://${name}/`, publicAnswer)).toBe('name')
      expect(await ruleFor(`http://${name}/`, ['10.0.0.1'], { SVC_ALLOW_PRIVATE_HOSTS: 'true' })).toBe('allowed')
    },
  )

  it.each(['metadata.google.internal..', 'metadata.packet.net', 'localhost..', '.', '..', 'a..example.com'])(
    '%s is refused always',
    async (name) => {
      for (const env of [{}, { SVC_ALLOW_PRIVATE_HOSTS: 'true' }])
        expect(await ruleFor(`http://${name}/`, publicAnswer, env)).toBe('name')
    },
  )
})

describe('the addresses of a name', () => {
  it.each([[['::127.0.0.1']], [['::8.8.8.8']], [['fd00:c1::a9fe:a9fe']], [['8.8.8.8', '::ffff:10.0.0.1']]])(
    '%j are refused always',
    async (answers) => {
      for (const env of [{}, { SVC_ALLOW_PRIVATE_HOSTS: 'true' }])
        expect(await ruleFor('https://hooks.example.com/', answers, env)).toBe('address')
    },
  )
})
