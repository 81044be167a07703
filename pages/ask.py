"""Ask page: questions, and answers with the pages they come from."""

import streamlit as st

from pages._ask import chat, conversations, form, question_settings, sidebar
from pages._library.filter_sets import draw_filter_sets
from pages._shared import resources
from pages._shared.frame import guard

guard(__file__)
engine = resources.engine()
conversation = chat.current_conversation(resources.workspace())
asked = chat.asked_now()
places = chat.draw_first(engine, conversation, asked)
with st.sidebar:
    conversations.draw_conversations(resources.workspace(), conversation.id)
    wanted = sidebar.draw_filter(engine, "ask")
    draw_filter_sets("ask", wanted)
    retrieval = sidebar.draw_retrieval(engine, followed=question_settings.follow_address(engine))
    schema = form.draw_form_choice()
    question_settings.note_in_address(engine, retrieval, schema)
    sidebar.draw_collection(engine)
chat.draw_chat(engine, conversation, asked, (wanted, retrieval, schema), places)
