import { expect, it } from 'vitest'
import { createValuesSchema } from './schema.ts'
import { parseValueEntries } from './values-file.ts'

const file = `# Shown at the top.

# How many.
# @schema {"minimum":1}
replicas: 2
server:
  # Where it is.
  address: ''
  # Anything.
  # @schema {"type":"object","additionalProperties":true}
  resources:
    cpu: 1
`

it('reads the path, default and comment of each key', () => {
  expect(parseValueEntries(file).map(({ path, fallback, doc }) => [path.join('.'), fallback, doc])).toEqual([
    ['replicas', 2, 'How many.'],
    ['server', { address: '', resources: { cpu: 1 } }, ''],
    ['server.address', '', 'Where it is.'],
    ['server.resources', { cpu: 1 }, 'Anything.'],
    ['server.resources.cpu', 1, ''],
  ])
})

it('generates a schema that rejects unknown keys', () => {
  expect(createValuesSchema(parseValueEntries(file), new Map())).toMatchObject({
    additionalProperties: false,
    properties: {
      replicas: { type: 'integer', minimum: 1, description: 'How many.' },
      server: {
        additionalProperties: false,
        properties: { address: { type: 'string' }, resources: { type: 'object', additionalProperties: true } },
      },
    },
  })
})

it('accepts only the variables and secrets of each service', () => {
  const variables = new Map([['query', { open: ['COLUMNDB_USER'], secret: ['COLUMNDB_PASSWORD'] }]])
  expect(createValuesSchema(parseValueEntries('defaults:\n  settings: {}\n'), variables)).toMatchObject({
    properties: {
      services: {
        properties: {
          query: {
            properties: {
              settings: { additionalProperties: false, properties: { COLUMNDB_USER: {} } },
              secrets: { properties: { keys: { items: { enum: ['COLUMNDB_PASSWORD'] } } } },
            },
          },
          agent: { properties: { secrets: { properties: { keys: { items: { enum: [] } } } } } },
        },
      },
    },
  })
})
