import type { McpOffer } from '#proto/mcp.ts'
import { prompts } from './prompts/prompts.ts'
import { facts } from './resources/facts.ts'
import { references } from './resources/references.ts'
import { tools } from './tools/index.ts'

const scheme = 'columndb://'

/** Where facts are read: those of the first host, and those of any. */
export const addressesOf = (path: string) => ({ ofFirst: `${scheme}${path}`, ofAny: `${scheme}hosts/{hostId}/${path}` })

interface Named {
  name: string
  title: string
  description: string
}

const named = ({ name, title, description }: Named) => ({ name, title, description })

/** All that models are offered. */
export const offer: McpOffer = {
  tools: tools.map(named),
  resources: [
    ...references.map(({ uri, title }) => ({ uri, title })),
    ...facts.flatMap(({ path, title }) => Object.values(addressesOf(path)).map((uri) => ({ uri, title }))),
  ],
  prompts: prompts.map(named),
}
