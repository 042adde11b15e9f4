import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { AdditionalTools } from '../../mcp/protocol/server.ts'
import { registerInputTools, requestState } from './input-rounds.ts'

/**
 * The tools, resources and prompts that the MCP conformance suite requires. Its documentation defines their results.
 */
export const conformanceFixtures: AdditionalTools = {
  options: { requestState },
  sendsNotifications: true,
  offer(server) {
    server.server.registerCapabilities({ logging: {}, resources: { subscribe: true } })
    offerContents(server)
    offerNotices(server)
    registerInputTools(server)
    offerResources(server)
    offerPrompts(server)
  },
}

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const silentAudio = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='
const image = { type: 'image' as const, data: pixel, mimeType: 'image/png' }
const text = (words: string) => ({ type: 'text' as const, text: words })
const resource = (uri: string, mimeType: string, words: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: words },
})

const contents = {
  test_simple_text: [text('This is a simple text response for testing.')],
  test_image_content: [image],
  test_audio_content: [{ type: 'audio' as const, data: silentAudio, mimeType: 'audio/wav' }],
  test_embedded_resource: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  test_multiple_content_types: [
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
}

const offerContents = (server: McpServer): void => {
  for (const [name, content] of Object.entries(contents)) {
    server.registerTool(name, { description: 'Answers the same each time' }, async () => ({ content }))
  }
  server.registerTool('test_error_handling', { description: 'Fails' }, async () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
}

const offerNotices = (server: McpServer): void => {
  for (const name of ['test_tool_with_logging', 'test_logging_tool']) {
    server.registerTool(name, { description: 'Says how far it is in the log' }, async ({ mcpReq }) => {
      for (const stage of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await mcpReq.log('info', stage)
      }
      return { content: [text('logged')] }
    })
  }
  server.registerTool('test_tool_with_progress', { description: 'Says how far it is' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
    }
    return { content: [text('done')] }
  })
}

const offerResources = (server: McpServer): void => {
  const offer = (
    name: string,
    uri: string,
    content: { mimeType: string; text: string } | { mimeType: string; blob: string },
  ) =>
    server.registerResource(name, uri, { description: 'Is the same each time', mimeType: content.mimeType }, () => ({
      contents: [{ uri, ...content }],
    }))
  offer('static-text', 'test://static-text', {
    mimeType: 'text/plain',
    text: 'This is the content of the static text resource.',
  })
  offer('static-binary', 'test://static-binary', { mimeType: 'image/png', blob: pixel })
  offer('watched-resource', 'test://watched-resource', { mimeType: 'text/plain', text: 'Watched resource content' })
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'Repeats a part of its address', mimeType: 'application/json' },
    ({ href }, { id }) => {
      const template = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` })
      return { contents: [{ uri: href, mimeType: 'application/json', text: template }] }
    },
  )
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
}

const offerPrompts = (server: McpServer): void => {
  const says = (...said: (typeof image | ReturnType<typeof text> | ReturnType<typeof resource>)[]) => ({
    messages: said.map((content) => ({ role: 'user' as const, content })),
  })
  const description = 'Requests a test'
  server.registerPrompt('test_simple_prompt', { description }, () => says(text('This is a simple prompt for testing.')))
  server.registerPrompt('test_prompt_with_image', { description }, () =>
    says(image, text('Please analyze the image above.')),
  )
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description, argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    ({ arg1, arg2 }) => says(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description, argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) =>
      says(
        resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
  )
}
