import { expect, it } from 'vitest'
import { InvalidOptions, parseOptions } from './options.ts'

it('pushes, tags and signs nothing by default', () => {
  const { push, tag, signature, cosignKey } = parseOptions([])
  expect({ push, tag, signature, cosignKey }).toEqual({})
})

it('reads every option', () => {
  const signing = ['--sign-key', 'release', '--keyring', 'ring.gpg', '--passphrase-file', 'passphrase']
  expect(parseOptions(['--push', 'localhost:5000/team', '--tag', '--base', 'node:24', ...signing])).toMatchObject({
    push: 'localhost:5000/team',
    tag: true,
    base: 'node:24',
    signature: { key: 'release', keyring: 'ring.gpg', passphraseFile: 'passphrase' },
  })
})

it.each([
  [['--publish'], "'--publish'"],
  [['--push'], "'--push <value>' argument missing"],
  [['--push', 'https://ghcr.io'], 'registry "https://ghcr.io" is invalid; use <host>[:<port>][/<path>] in lower case'],
  [['--tag', '--tagged'], '--tag and --tagged exclude each other'],
  [['--skip-image', '--tag'], '--skip-image excludes --push and --tag'],
  [['--skip-image', '--push', 'ghcr.io/team'], '--skip-image excludes --push and --tag'],
  [['--sign-key', 'release'], '--sign-key and --keyring need each other'],
  [['--passphrase-file', 'passphrase'], '--passphrase-file needs --sign-key and --keyring'],
])('rejects %s', (parameters, reason) => {
  expect(() => parseOptions(parameters)).toThrow(InvalidOptions)
  expect(() => parseOptions(parameters)).toThrow(reason)
})
