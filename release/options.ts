import { parseArgs } from 'node:util'

/** What a release does in addition to building and checking. Everything is optional. */
export interface ReleaseOptions {
  /** The registry to push to; undefined if nothing is pushed. */
  push?: string | undefined
  /** Creates the tag. */
  tag?: boolean | undefined
  /** Releases an existing tag, which must point to the checked-out commit. */
  tagged?: boolean | undefined
  /** The base image. Default: that of the Dockerfile. */
  base?: string | undefined
  skipImage?: boolean | undefined
  /** The PGP key that signs the chart. */
  signature?: { key: string; keyring: string; passphraseFile: string | undefined } | undefined
  /** The key of cosign. Without it, cosign signs with the identity of the user or workflow. */
  cosignKey?: string | undefined
}

export const usage = `usage: npm run release -- [options]

Without options, builds and checks a release in .watchhouse/release/<version>, without pushing and tagging.

  --push <registry>          pushes image and chart, such as ghcr.io/watchhouse
  --tag                      creates the annotated tag v<version>
  --tagged                   releases the existing tag v<version> of the checked-out commit
  --base <image>             base image, if it is not that of services/Dockerfile
  --skip-image               builds and checks only the chart
  --sign-key <name>          PGP key that signs the chart; requires --keyring
  --keyring <file>           keyring with the secret key
  --passphrase-file <file>   passphrase of the key
  --cosign-key <key>         key for cosign, which signs pushed images and charts if it is installed
`

/** The user passed options that are unknown or contradict each other. */
export class InvalidOptions extends Error {}

const registryPattern = /^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)*$/

/** Parses the command line. Throws `InvalidOptions`. */
export const parseOptions = (parameters: readonly string[]): ReleaseOptions => {
  const values = readFlags(parameters)
  const { push, tag, tagged, base, 'skip-image': skipImage, 'cosign-key': cosignKey } = values
  const { 'sign-key': key, keyring, 'passphrase-file': passphraseFile } = values
  if (push !== undefined && !registryPattern.test(push))
    throw new InvalidOptions(`registry "${push}" is invalid; use <host>[:<port>][/<path>] in lower case`)
  if (tag && tagged) throw new InvalidOptions('--tag and --tagged exclude each other')
  if (skipImage && (push !== undefined || tag)) throw new InvalidOptions('--skip-image excludes --push and --tag')
  if ((key === undefined) !== (keyring === undefined))
    throw new InvalidOptions('--sign-key and --keyring need each other')
  if (passphraseFile !== undefined && key === undefined)
    throw new InvalidOptions('--passphrase-file needs --sign-key and --keyring')
  const signature = key !== undefined && keyring !== undefined ? { key, keyring, passphraseFile } : undefined
  return { push, tag, tagged, base, skipImage, signature, cosignKey }
}

const readFlags = (parameters: readonly string[]) => {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const options = {
    push: text,
    tag: flag,
    tagged: flag,
    base: text,
    'skip-image': flag,
    'sign-key': text,
    keyring: text,
    'passphrase-file': text,
    'cosign-key': text,
  }
  try {
    return parseArgs({ args: [...parameters], options }).values
  } catch (error) {
    throw new InvalidOptions(error instanceof Error ? error.message : String(error))
  }
}
