"""The official Python SDK in front of codecell: `client.py MODE PROGRAMS COMMAND...`.

MODE is `legacy` (the handshake with initialize) or `auto` (server/discover, and questions that come
as answers). Prints what it saw, without what differs from run to run.
"""

import asyncio
import json
import pathlib
import sys

import mcp_types as types
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

mode, programs, command, *args = sys.argv[1:]
questions = 0


async def answer(context, params):
    """Says yes for the session to everything, and shows the first question."""
    global questions
    questions += 1
    if questions == 1:
        print("asked:", params.message.replace("\n", "\n       "))
    return types.ElicitResult(action="accept", content={"decision": "tool"})


def program(name):
    return pathlib.Path(programs, name).read_text()


def value(result):
    structured = result.structured_content
    return structured.get("value", structured.get("error"))


async def main():
    server = StdioServerParameters(command=command, args=args)
    async with Client(stdio_client(server), mode=mode, elicitation_callback=answer) as client:
        print("connected:", client.server_info.name, "speaks", client.protocol_version)
        tools = (await client.list_tools()).tools
        print("tools:", ", ".join(tool.name for tool in tools))

        steps = []

        async def progress(done, total, message):
            steps.append(message)

        joined = await client.call_tool("exec", {"code": program("join.js")}, progress_callback=progress)
        print("join.js:", json.dumps(value(joined)))
        print("questions:", questions, "- steps of progress:", "some" if steps else "none")

        paused = await client.call_tool("exec", {"code": program("pause.js")})
        print("pause.js:", paused.structured_content["status"], paused.structured_content["reason"])
        ended = await client.call_tool("wait", {"runId": paused.structured_content["runId"]})
        print("wait:", json.dumps(value(ended)))

        image = await client.call_tool("exec", {"code": program("image.js")})
        blocks = [(block.type, getattr(block, "mime_type", None)) for block in image.content]
        print("image.js:", blocks)

        large = await client.call_tool("exec", {"code": program("large.js")})
        link = next(block for block in large.content if block.type == "resource_link")
        whole = await client.read_resource(str(link.uri))
        print("large.js:", large.structured_content["code"], "->", link.uri, "has", len(whole.contents[0].text), "characters")


asyncio.run(main())
