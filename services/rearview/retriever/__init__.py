"""The retriever: recalls memories and reads what is stored. It writes nothing but traces and access counts."""
